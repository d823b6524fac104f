import { milliseconds } from "../duration.js";
import { adviceOf, asError, AttemptEnded, codeOf } from "../errors.js";
import type * as api from "../generated/api.js";
import { withGrant } from "../grant.js";
import { Alarm, now, trustWindow } from "../time.js";
import { Occurrence } from "./occurrence.js";

export type Handler<P = unknown> = (occurrence: Occurrence<P>) => unknown;

/** How long the server is not asked about an attempt at most: it says too that somebody wants it to stop. */
const maxUnasked = 10_000;

/** The server takes this many effects in a report. */
const maxEffects = 1000;

/** An occurrence that this worker owns and works on. */
export class Attempt {
  readonly lease: number;
  /** When to renew, by `now`. */
  renewAt = 0;
  /** Reported, or on its way. */
  over = false;
  private readonly ended = new AbortController();
  private trusted = 0;
  private readonly expiry = new Alarm(() => this.end("lease_lost"));
  private readonly timeout = new Alarm(() => this.end("timed_out"));
  private readonly grace = new Alarm(() => this.abandon());
  private readonly occurrence: Occurrence;

  /** `asked` is the earliest time by `now` at which its lease can have begun. */
  constructor(
    readonly claim: api.Claim,
    asked: number,
    private readonly graceTime: number,
    private readonly report: (attempt: Attempt, report: api.Report) => void,
  ) {
    this.lease = milliseconds(claim.lease);
    this.occurrence = new Occurrence(this, claim);
    this.trust(asked);
    if (claim.timeout) this.timeout.set(now() + milliseconds(claim.timeout));
  }

  get signal(): AbortSignal {
    return this.ended.signal;
  }

  get renewEvery(): number {
    return Math.min(this.lease / 3, maxUnasked);
  }

  /** Starts or extends the time for which the lease is believed in. */
  trust(asked: number): void {
    this.trusted = asked + trustWindow(this.lease);
    this.renewAt = asked + this.renewEvery;
    if (!this.over) this.expiry.set(this.trusted);
  }

  /** Asks the clock and not the timer, which is late where the event loop was blocked. */
  owned(): boolean {
    if (now() >= this.trusted) this.end("lease_lost");
    return !this.signal.aborted;
  }

  end(why: AttemptEnded["why"]): void {
    if (this.signal.aborted || this.over) return;
    if (why === "lease_lost") this.renewAt = Infinity; // nothing is left to renew
    this.grace.set(now() + this.graceTime);
    this.ended.abort(new AttemptEnded(why));
  }

  /** Calls the handler and reports; it is settled when the handler's code has returned. */
  async work(handler: Handler): Promise<void> {
    if (!this.owned()) { // this process stood still while the claim was on its way to it
      this.conclude({ outcome: "released", error: "the lease had run out before the work could begin" }); return;
    }
    let failure: { err: unknown } | undefined;
    try {
      await withGrant(this.occurrence.grant, () => handler(this.occurrence));
    } catch (err) {
      failure = { err };
    }
    this.owned(); // a blocked event loop is found out here at the latest
    this.conclude(failure === undefined ? { outcome: "succeeded", result: this.occurrence.resultSet } : this.failed(failure.err));
  }

  /** Reports an attempt whose code ignores its signal. It keeps its slot; what it still does is refused by its token. */
  private abandon(): void {
    this.conclude(this.failed(new Error(`the handler did not return within ${this.graceTime} ms of its cancellation`)));
  }

  private failed(thrown: unknown): Partial<api.Report> & Pick<api.Report, "outcome"> {
    const err = asError(thrown);
    const { permanent, retryAfter } = adviceOf(thrown);
    const result = this.occurrence.resultSet;
    if (codeOf(thrown) === "uncertain") return { outcome: "uncertain", error: err.message, result };
    if (this.signal.aborted) {
      const ended = this.signal.reason as AttemptEnded;
      const error = err.name === "AbortError" || err.message === ended.message ? ended.message : `${ended.message}: ${err.message}`;
      return { outcome: outcomes[ended.why], error, result };
    }
    return {
      outcome: "failed", error: err.message || err.name, output: err.stack, result, permanent,
      retry_after: retryAfter === undefined ? undefined : `${Math.round(retryAfter)}ms`,
    };
  }

  private conclude(how: Partial<api.Report> & Pick<api.Report, "outcome">): void {
    if (this.over) return;
    this.over = true;
    for (const alarm of [this.expiry, this.timeout, this.grace]) alarm.stop();
    const effects = this.occurrence.effects.recorded.slice(0, maxEffects);
    this.report(this, { seq: this.claim.seq, token: this.claim.token, ...how, effects: effects.length > 0 ? effects : undefined });
  }
}

/** Only the server can say that an attempt was lost; the worker knows that it stopped. */
const outcomes: Record<AttemptEnded["why"], api.Outcome> = {
  timed_out: "timed_out", cancelled: "cancelled", lease_lost: "failed", draining: "released",
};
