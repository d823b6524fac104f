import type { ErrorCode, Lease, Problem } from "./generated/api.js";

/**
 * An error with a code by which programs decide: `invalid`, `not_found`,
 * `conflict`, `not_holder`, `stale_token`, `unavailable` (try again later),
 * `uncertain`, `internal`.
 */
export class DulyError extends Error {
  override name = "DulyError";
  readonly code: ErrorCode;
  /** The field of the request that is to blame, where one is. */
  readonly field?: string;
  /** The HTTP status of the server's answer. */
  readonly status?: number;
  /** Finds the request in the server's log. */
  readonly requestId?: string;
  /** Where a lease could not be had: the one that is in the way. */
  readonly lease?: Lease;

  constructor(code: ErrorCode, message: string, more: DulyErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.field = more.field;
    this.status = more.status;
    this.requestId = more.requestId;
    this.lease = more.lease;
  }
}

export interface DulyErrorDetails {
  field?: string;
  status?: number;
  requestId?: string;
  lease?: Lease;
  cause?: unknown;
}

/**
 * Says that an external outcome is unknown. A handler that throws it makes its
 * occurrence uncertain: it waits for a person and is never repeated blindly.
 */
export class UncertainError extends DulyError {
  override name = "UncertainError";
  constructor(message: string, cause?: unknown) {
    super("uncertain", message, { cause });
  }
}

/** A newer fencing token was seen: this attempt has lost its ownership. */
export class StaleError extends DulyError {
  override name = "StaleError";
  constructor(message: string) {
    super("stale_token", message);
  }
}

/**
 * Why an attempt was ended from outside: the `reason` of its `signal`.
 * `lease_lost` means that another attempt may own the occurrence by now.
 */
export class AttemptEnded extends Error {
  override name = "AttemptEnded";
  constructor(readonly why: "timed_out" | "cancelled" | "lease_lost" | "draining") {
    super(ended[why]);
  }
}

const ended = {
  timed_out: "the attempt took longer than the schedule's timeout",
  cancelled: "the attempt was cancelled",
  lease_lost: "the lease was lost, so another attempt may own the occurrence",
  draining: "the node is draining",
};

/** The code of an error: that of a DulyError, else `internal`. */
export function codeOf(err: unknown): ErrorCode {
  for (const e of chain(err)) {
    if (e instanceof Error && e.name in dulyNames && "code" in e) return e.code as ErrorCode;
  }
  return "internal";
}

// By name, since a program may hold this package twice: as ES and as CommonJS.
const dulyNames = { DulyError: true, UncertainError: true, StaleError: true };

/** An error and its causes. */
export function* chain(err: unknown): Generator {
  for (let depth = 0; err !== undefined && err !== null && depth < 20; depth++) {
    yield err;
    err = (err as { cause?: unknown }).cause;
  }
}

const advice = Symbol.for("duly.advice");

interface Advice {
  permanent?: boolean;
  retryAfter?: number;
}

/** Marks an error that no further attempt can mend: the occurrence becomes failed at once. */
export function permanent(err: unknown): Error {
  return advise(err, { permanent: true });
}

/** Marks an error and says how many milliseconds to wait before the next attempt. */
export function retryAfter(err: unknown, ms: number): Error {
  return advise(err, { retryAfter: ms });
}

function advise(err: unknown, what: Advice): Error {
  const cause = asError(err);
  const marked = new Error(cause.message, { cause });
  marked.name = cause.name;
  marked.stack = cause.stack;
  return Object.assign(marked, { [advice]: { ...adviceOf(err), ...what } });
}

/** What `permanent` and `retryAfter` have said about an error. */
export function adviceOf(err: unknown): Advice {
  for (const e of chain(err)) {
    const found = (e as { [advice]?: Advice })[advice];
    if (found !== undefined) return found;
  }
  return {};
}

export function asError(err: unknown): Error {
  if (err instanceof Error) return err;
  return new Error(typeof err === "string" ? err : JSON.stringify(err) ?? String(err));
}

/** The error that an answer of the server tells of. */
export function problemError(status: number, p: Partial<Problem>, fallback: string): DulyError {
  const faults = p.errors ?? [];
  const fields = faults.map((f) => (f.location ?? "").replace(/^(body|query|path|header)\.?/, ""));
  const texts = faults.map((f, i) => (fields[i] ? `${fields[i]}: ${f.message}` : f.message));
  return new DulyError(p.code ?? codeOfStatus(status), texts.length > 0 ? texts.join("; ") : p.detail || p.title || fallback, {
    field: fields.length === 1 ? fields[0] || undefined : undefined,
    status,
    requestId: p.request_id,
    lease: p.lease,
  });
}

/** The code of an answer that something between client and server gave. */
function codeOfStatus(status: number): ErrorCode {
  switch (status) {
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 412:
      return "stale_token";
    case 429:
    case 502:
    case 503:
    case 504:
      return "unavailable";
  }
  return status < 500 ? "invalid" : "internal";
}
