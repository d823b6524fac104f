import { DulyError, problemError } from "./errors.js";
import type { Problem } from "./generated/api.js";

export interface ClientOptions {
  /** The server's address. Default: DULY_SERVER of the environment, else http://127.0.0.1:4747. */
  url?: string;
  /** Sent as a bearer token. Default: DULY_TOKEN of the environment, else none. */
  token?: string;
  /** For whom requests are made; the audit names them. Default: api. */
  actor?: string;
  /** Default: the platform's. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  query?: object;
  body?: unknown;
  signal?: AbortSignal;
}

/** Sends requests and reads answers. It never repeats one by itself. */
export class Transport {
  readonly url: string;
  private readonly token: string;
  private readonly actor: string;
  private readonly fetch: typeof fetch;

  constructor(options: ClientOptions = {}) {
    this.url = (options.url ?? process.env["DULY_SERVER"] ?? "http://127.0.0.1:4747").replace(/\/+$/, "");
    this.token = options.token ?? process.env["DULY_TOKEN"] ?? "";
    this.actor = options.actor ?? "";
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Errors: DulyError; where `signal` has ended the request, its reason. */
  async request<T>(method: string, path: string, { query, body, signal }: RequestOptions = {}): Promise<T> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.token) headers["authorization"] = `Bearer ${this.token}`;
    if (this.actor) headers["duly-actor"] = this.actor.replace(/[\x00-\x1f\x7f]/g, " ");
    let status: number;
    let type: string;
    let text: string;
    try {
      const answer = await this.fetch(this.url + path + search(query), {
        method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      });
      status = answer.status;
      type = answer.headers.get("content-type") ?? "";
      text = await answer.text();
    } catch (err) {
      if (signal?.aborted) throw signal.reason;
      throw new DulyError("unavailable", `server ${this.url} cannot be reached: ${reason(err)}`, { cause: err });
    }
    if (status >= 400) {
      throw problemError(status, type.startsWith("application/problem+json") ? parse<Problem>(text) ?? {} : {}, `${method} ${path} was answered ${status}`);
    }
    if (text === "") return undefined as T;
    const value = parse<T>(text);
    if (value === undefined) throw new DulyError("internal", `${method} ${this.url}${path}: the answer cannot be read; is this a Duly server?`, { status });
    return value;
  }
}

function reason(err: unknown): string {
  const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
  return cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : String(cause);
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

function search(query: object | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one === undefined || one === null) continue;
      params.append(name, one instanceof Date ? one.toISOString() : String(one as string | number | boolean));
    }
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** One segment of a path. */
export const segment = (name: string): string => encodeURIComponent(name);
