import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import { codeOf, DulyError } from "../errors.js";
import type { ErrorCode } from "../generated/api.js";
import { type Grant, withGrant } from "../grant.js";
import type { FenceStore } from "./store.js";

export interface FenceOptions {
  /** Let requests pass, without a grant, that carry neither token nor resource. Default false. */
  optional?: boolean;
}

/** What refuses a request. */
interface Refusal {
  status: number;
  code: ErrorCode;
  detail: string;
}

/** The grant of a request of Duly's; undefined where it carries none. Errors: invalid, where it carries a broken one. */
export function grantFromHeaders(headers: IncomingHttpHeaders): Grant | undefined {
  const get = (name: string) => {
    const value = headers[name.toLowerCase()];
    return (Array.isArray(value) ? value[0] : value) ?? "";
  };
  return parse(get, "Duly-Fencing-Token", "Duly-Fencing-Resource", "Duly-Occurrence", "Duly-Attempt");
}

/** The grant of a command that Duly started, from its environment; undefined where there is none. */
export function grantFromEnv(env: NodeJS.ProcessEnv = process.env): Grant | undefined {
  return parse((name) => env[name] ?? "", "DULY_FENCING_TOKEN", "DULY_FENCING_RESOURCE", "DULY_OCCURRENCE", "DULY_ATTEMPT");
}

function parse(get: (name: string) => string, token: string, resource: string, occurrence: string, attempt: string): Grant | undefined {
  const given = { token: get(token), resource: get(resource), attempt: get(attempt) };
  if (given.token === "" && given.resource === "") return undefined;
  if (given.token === "") throw new DulyError("invalid", `${token} is missing beside ${resource}`, { field: token });
  if (given.resource === "") throw new DulyError("invalid", `${resource} is missing beside ${token}`, { field: resource });
  return {
    token: whole(token, given.token, 1), resource: given.resource, occurrence: get(occurrence),
    attempt: given.attempt === "" ? 0 : whole(attempt, given.attempt, 0),
  };
}

function whole(field: string, text: string, least: number): number {
  const n = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(n) || n < least) {
    throw new DulyError("invalid", `${field} is ${JSON.stringify(text)}; it must be a whole number from ${least}`, { field });
  }
  return n;
}

/** Admits a request, with its grant, or says why not. */
async function judge(headers: IncomingHttpHeaders, store: FenceStore, options: FenceOptions): Promise<{ grant?: Grant } | Refusal> {
  let grant: Grant | undefined;
  try {
    grant = grantFromHeaders(headers);
  } catch (err) {
    return { status: 400, code: "invalid", detail: (err as Error).message };
  }
  if (grant === undefined) {
    if (options.optional) return {};
    return { status: 428, code: "invalid", detail: "this address takes fenced requests only: Duly-Fencing-Token and Duly-Fencing-Resource are missing" };
  }
  try {
    await store.raise(grant.resource, grant.token);
    return { grant };
  } catch (err) {
    if (codeOf(err) === "stale_token") return { status: 412, code: "stale_token", detail: (err as Error).message };
    // What is wrong inside is not for the caller to read.
    return { status: 503, code: "unavailable", detail: "the fence cannot be asked; try again later" };
  }
}

const problem = (r: Refusal): string => JSON.stringify({ title: STATUS_CODES[r.status], ...r });
const headers = { "content-type": "application/problem+json", "cache-control": "no-store" };

/** The part of Express, and of everything that takes its middleware, that is used here. */
type Middleware = (req: IncomingMessage, res: ServerResponse, next: (err?: unknown) => void) => void;

/**
 * Middleware for Express that refuses requests whose fencing token is smaller than
 * one that was seen for their resource: 412; without a token 428, with a broken
 * one 400, and 503 while the store does not answer. All as
 * application/problem+json. What it admits runs under its grant, so that a
 * transaction of the handler can check again, under once or checkFence: only that
 * closes the time between admission and commit.
 */
export function expressFence(store: FenceStore, options: FenceOptions = {}): Middleware {
  return (req, res, next) => {
    void judge(req.headers, store, options).then((verdict) => {
      if ("status" in verdict) {
        res.writeHead(verdict.status, headers).end(problem(verdict));
        return;
      }
      if (verdict.grant === undefined) next();
      else withGrant(verdict.grant, () => next());
    });
  };
}

/** The part of Fastify that is used here. */
interface Reply {
  code(status: number): Reply;
  headers(values: Record<string, string>): Reply;
  send(payload: Buffer): unknown;
}

/** The same as a hook for Fastify: `fastify.addHook("onRequest", fastifyFence(store))`. */
export function fastifyFence(store: FenceStore, options: FenceOptions = {}) {
  return (request: { headers: IncomingHttpHeaders }, reply: Reply, done: (err?: Error) => void): void => {
    void judge(request.headers, store, options).then((verdict) => {
      if ("status" in verdict) {
        reply.code(verdict.status).headers(headers).send(Buffer.from(problem(verdict))); // a text would be given a charset
        return;
      }
      if (verdict.grant === undefined) done();
      else withGrant(verdict.grant, () => done());
    });
  };
}
