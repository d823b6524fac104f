import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { duration, type Duration, inMilliseconds } from "./duration.js";
import { AttemptEnded, codeOf } from "./errors.js";
import type * as api from "./generated/api.js";
import { type Grant, withGrant } from "./grant.js";
import { Alarm, limited, now, sleep, trustWindow } from "./time.js";
import { segment, type Transport } from "./transport.js";

export interface LeaseOptions {
  /** The length of the lease, 1 s to 24 h. Default 30 s. */
  ttl?: Duration;
  /** How long to wait for it where somebody else has it. Default: not at all. */
  wait?: Duration;
  /** For people: what it is for. Default: host and process number. */
  holder?: string;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** The longest that one request waits. */
const longestWait = 30_000;

/** A named lease that is kept renewed until it is released or lost. */
export class Lease {
  readonly name: string;
  /** The fencing token: greater than that of every holder before. */
  readonly token: number;
  private readonly ended = new AbortController();
  private readonly over = new AbortController(); // nothing is to be renewed any more
  private readonly expiry = new Alarm(() => this.lose());
  private trusted = 0;

  constructor(
    private readonly transport: Transport,
    lease: api.Lease,
    private readonly owner: string,
    private readonly ttl: number,
    asked: number,
  ) {
    this.name = lease.name;
    this.token = lease.token;
    this.trust(asked);
    void this.keep(asked + ttl / 3);
  }

  /** Aborts when the lease can no longer be trusted, before it has run out. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Whether it surely is held. It asks the clock, so it is right after a stalled event loop too. */
  get held(): boolean {
    if (now() >= this.trusted) this.lose();
    return !this.ended.signal.aborted;
  }

  /** What a guarded destination is told. */
  get grant(): Grant {
    return { occurrence: "", attempt: 0, token: this.token, resource: `lease/${this.name}` };
  }

  /** Gives it up. It is no error where it was lost. */
  async release(): Promise<void> {
    this.over.abort();
    this.expiry.stop();
    this.trusted = 0;
    try {
      await this.transport.request("POST", path(this.name, "release"), { body: { owner: this.owner } });
    } catch (err) {
      if (codeOf(err) !== "not_holder") throw err;
    } finally {
      this.lose();
    }
  }

  private trust(asked: number): void {
    this.trusted = asked + trustWindow(this.ttl);
    this.expiry.set(this.trusted);
  }

  private lose(): void {
    this.trusted = 0;
    this.expiry.stop();
    this.over.abort();
    if (!this.ended.signal.aborted) this.ended.abort(new AttemptEnded("lease_lost"));
  }

  private async keep(next: number): Promise<void> {
    const over = this.over.signal;
    for (;;) {
      await sleep(Math.max(next - now(), 0), over);
      if (over.aborted) return;
      const asked = now();
      try {
        await limited(this.ttl / 2, over, (signal) => renew(this.transport, this.name, this.owner, this.ttl, signal));
        if (over.aborted) return;
        this.trust(asked);
        next = asked + this.ttl / 3;
      } catch (err) {
        if (codeOf(err) === "not_holder" || codeOf(err) === "not_found") { this.lose(); return; }
        next = now() + Math.min(this.ttl / 12, 1000); // several times within the lease
      }
    }
  }
}

/** Takes a lease. Errors: conflict with the lease in the way, where somebody else holds it. */
export async function acquire(transport: Transport, name: string, options: LeaseOptions): Promise<Lease> {
  const ttl = inMilliseconds(options.ttl ?? 30_000);
  const owner = randomBytes(24).toString("base64url");
  const until = now() + inMilliseconds(options.wait ?? 0);
  for (;;) {
    // What a request waits is lost from its lease, so it waits for less than that.
    const wait = Math.max(0, Math.min(until - now(), longestWait, ttl / 4));
    const asked = now();
    const request: api.AcquireRequest = { owner, holder: options.holder ?? `${hostname()}-${process.pid}`, ttl: duration(ttl), wait: duration(wait) };
    try {
      const lease = await transport.request<api.Lease>("POST", path(name, "acquire"), { body: request, signal: options.signal });
      return new Lease(transport, lease, owner, ttl, asked);
    } catch (err) {
      if (options.signal?.aborted || codeOf(err) !== "conflict" || now() >= until) throw err;
      if (now() - asked < 50) await sleep(100, options.signal); // a server that ends answers at once
    }
  }
}

export async function withLease<T>(transport: Transport, name: string, options: LeaseOptions, fn: (lease: Lease) => Promise<T> | T): Promise<T> {
  const lease = await acquire(transport, name, options);
  try {
    return await withGrant(lease.grant, () => fn(lease));
  } finally {
    await lease.release().catch(() => undefined); // it runs out by itself then
  }
}

function renew(transport: Transport, name: string, owner: string, ttl: number, signal: AbortSignal): Promise<api.Lease> {
  return transport.request("POST", path(name, "renew"), { body: { owner, ttl: duration(ttl) }, signal });
}

const path = (name: string, action: string) => `/api/v1/leases/${segment(name)}/${action}`;
