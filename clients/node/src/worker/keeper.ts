import type * as api from "../generated/api.js";
import { Alarm, limited, now, sleep } from "../time.js";
import type { Transport } from "../transport.js";
import type { Attempt } from "./attempt.js";
import type { Logger } from "./log.js";

/** The server takes this many items in a request. */
const maxBatch = 1000;

/**
 * Renews the leases of running attempts, in batches. An attempt ends itself where
 * no renewal comes in time, so a server that hangs cannot keep it from that.
 */
export class Keeper {
  private readonly alarm = new Alarm(() => this.look());
  private readonly stopped = new AbortController();
  private sending: Promise<void> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly attempts: ReadonlySet<Attempt>,
    private readonly node: () => number,
    private readonly log: Logger,
  ) {}

  /** Looks whose renewal is due; called where an attempt has begun, too. */
  look(): void {
    if (this.sending !== undefined || this.stopped.signal.aborted) return; // it looks again when answered
    const due: Attempt[] = [];
    let next = Infinity;
    for (const a of this.attempts) {
      if (a.over) continue;
      // With one renewal go all that would be due soon after.
      if (a.renewAt <= now() + a.renewEvery / 4 && due.length < maxBatch) due.push(a);
      else next = Math.min(next, a.renewAt);
    }
    this.alarm.set(next);
    if (due.length === 0) return;
    this.sending = this.renew(due).finally(() => {
      this.sending = undefined;
      this.look();
    });
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.alarm.stop();
    await this.sending;
  }

  private async renew(due: Attempt[]): Promise<void> {
    const shortest = Math.min(...due.map((a) => a.lease));
    const request: api.RenewRequest = {
      node: this.node(),
      items: due.map((a) => ({ seq: a.claim.seq, token: a.claim.token, lease: a.claim.lease })),
    };
    const asked = now();
    let answer: api.RenewResult;
    try {
      // An answer that takes longer than the rest of the lease is worth nothing.
      answer = await limited(shortest / 2, this.stopped.signal, (signal) =>
        this.transport.request("POST", "/api/v1/attempts/renew", { body: request, signal }));
    } catch (err) {
      this.log.debug("leases could not be renewed; trying again", { error: String(err) });
      return sleep(Math.min(shortest / 12, 1000), this.stopped.signal);
    }
    answer.results.forEach((renewed, i) => {
      const a = due[i];
      if (a === undefined || a.over) return;
      if (renewed.lost) {
        this.log.warn("lease lost: the handler's signal aborts", { occurrence: a.claim.occurrence, attempt: a.claim.attempt, why: renewed.reason });
        return a.end("lease_lost");
      }
      a.trust(asked);
      if (renewed.cancelled) a.end("cancelled");
    });
  }
}
