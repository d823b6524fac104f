import { DulyError } from "../errors.js";
import type * as api from "../generated/api.js";
import { Backoff, limited, sleep } from "../time.js";
import type { Transport } from "../transport.js";
import type { Logger } from "./log.js";

const maxBatch = 1000;
const answerTime = 30_000;

/**
 * Delivers what attempts came to. Through an outage reports are held and sent
 * again until they are accepted or refused; one batch grows while the one before
 * is on its way.
 */
export class Reports {
  private waiting: api.Report[] = [];
  private delivery: Promise<void> | undefined;
  private readonly ended = new AbortController();
  private readonly backoff = new Backoff();
  private most = maxBatch;

  constructor(
    private readonly transport: Transport,
    private readonly node: () => number,
    private readonly log: Logger,
  ) {}

  put(report: api.Report): void {
    this.waiting.push(report);
    this.delivery ??= this.deliver().finally(() => (this.delivery = undefined));
  }

  /** How many the server has not answered yet. */
  get held(): number {
    return this.waiting.length;
  }

  /** Settled when all are answered. */
  async delivered(): Promise<void> {
    await this.delivery;
  }

  /** Gives up on what is held. */
  stop(): void {
    this.ended.abort();
  }

  private async deliver(): Promise<void> {
    while (this.waiting.length > 0 && !this.ended.signal.aborted) {
      const batch = this.waiting.slice(0, this.most);
      try {
        const request: api.FinishRequest = { node: this.node(), reports: batch };
        const answer = await limited(answerTime, this.ended.signal, (signal) =>
          this.transport.request<api.FinishResult>("POST", "/api/v1/attempts/finish", { body: request, signal }));
        this.backoff.reset();
        this.most = Math.min(2 * this.most, maxBatch);
        this.waiting.splice(0, batch.length, ...batch.filter((report, i) => this.again(report, answer.results[i])));
      } catch (err) {
        if (refused(err)) this.isolate(batch, err);
        else await sleep(this.backoff.delay(), this.ended.signal);
      }
    }
  }

  /** Whether a report is to be sent once more, without what the server could not take of it. */
  private again(report: api.Report, answer: api.Finished | undefined): boolean {
    if (answer?.error === undefined) return false;
    const fields = { occurrence: answer.occurrence, token: report.token, outcome: report.outcome, error: answer.error.message };
    switch (answer.error.code) {
      case "stale_token":
        this.log.warn("report refused: another attempt was granted a newer token", fields);
        return false;
      case "invalid":
        this.log.error("report refused; sending it without its details", fields);
        return strip(report);
    }
    this.log.error("report refused", fields);
    return false;
  }

  /** One report that the server cannot take must not keep the others. */
  private isolate(batch: api.Report[], err: DulyError): void {
    const only = batch.length === 1 ? batch[0] : undefined;
    if (only !== undefined && !strip(only)) this.waiting.shift();
    if (only !== undefined) this.log.error("the server cannot take a report; sending it without its details", { token: only.token, error: err.message });
    this.most = 1;
  }
}

/** Whether the server understood and would refuse it again. */
function refused(err: unknown): err is DulyError {
  return err instanceof DulyError && [400, 413, 422].includes(err.status ?? 0);
}

/** That it ended matters more than what it said. False where nothing is left to leave out. */
function strip(report: api.Report): boolean {
  if (report.output === undefined && report.result === undefined && report.effects === undefined) return false;
  Object.assign(report, { output: undefined, result: undefined, effects: undefined });
  return true;
}
