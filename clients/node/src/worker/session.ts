import { hostname } from "node:os";
import { codeOf } from "../errors.js";
import { duration } from "../duration.js";
import type * as api from "../generated/api.js";
import { limited, sleep } from "../time.js";
import type { Transport } from "../transport.js";
import type { Logger } from "./log.js";

export interface SessionOptions {
  name: string;
  app: string;
  version: string;
  slots: number;
  /** ms */
  ttl: number;
}

const answerTime = 10_000;

/** The worker's membership: it joins, declares, beats three times within the ttl, and leaves. */
export class Session {
  node = 0;
  draining = false;
  /** This host's clock minus the store's, in ms. */
  clockOffset = 0;
  /** What was wrong with the schedules when they were declared last. */
  faults: readonly api.DefinitionFault[] = [];
  private joining: Promise<void> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly options: SessionOptions,
    private readonly capabilities: () => string[],
    private readonly schedules: () => api.Schedule[],
    private readonly running: () => number,
    private readonly log: Logger,
  ) {}

  /** Opens a session and declares what the program carries. Several callers share one. */
  join(): Promise<void> {
    return (this.joining ??= this.open().finally(() => (this.joining = undefined)));
  }

  /** Beats until `signal` aborts. */
  async keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.options.ttl / 3, signal);
      if (signal.aborted) return;
      const beat: api.BeatRequest = {
        ttl: duration(this.options.ttl), running: this.running(), draining: this.draining, clock_offset_ms: Math.round(this.clockOffset),
      };
      try {
        await limited(answerTime, signal, (s) => this.transport.request("POST", `/api/v1/nodes/${this.node}/beat`, { body: beat, signal: s }));
      } catch (err) {
        if (codeOf(err) !== "not_found") {
          this.log.debug("beat failed", { error: String(err) });
          continue;
        }
        this.log.warn("the session had expired; joining again");
        await this.join().catch((e: unknown) => this.log.debug("joining failed", { error: String(e) }));
      }
    }
  }

  /** So that the list of nodes says left, and not gone. */
  async leave(): Promise<void> {
    if (this.node !== 0) await this.end(this.node);
  }

  private async open(): Promise<void> {
    const { name, version, slots, ttl, app } = this.options;
    const join: api.JoinRequest = {
      name, version, slots, ttl: duration(ttl), host: hostname(), pid: process.pid, tzdata: process.versions.tz ?? "", capabilities: this.capabilities(),
    };
    const post = <T>(path: string, body: object) => limited(answerTime, undefined, (signal) => this.transport.request<T>("POST", `/api/v1/${path}`, { body, signal }));
    const { node } = await post<api.JoinResult>("nodes", join);
    const schedules = this.schedules();
    if (schedules.length > 0) {
      const declare: api.DeclareRequest = { node, app, schedules };
      try {
        this.declared(await post<api.DeclareResult>("declare", declare));
      } catch (err) {
        await this.end(node); // or every try would leave a session behind
        throw err;
      }
    }
    this.node = node;
  }

  private async end(node: number): Promise<void> {
    await limited(1000, undefined, (signal) => this.transport.request("POST", `/api/v1/nodes/${node}/leave`, { signal })).catch(() => undefined);
  }

  private declared(result: api.DeclareResult): void {
    this.faults = result.faults ?? [];
    for (const fault of this.faults) this.log.error("a declared schedule is faulty and not in force", fault);
    for (const change of result.changes) {
      if (change.action === "ignore") this.log.warn("a declared schedule is not in force", change);
    }
  }
}
