import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Duration, duration, inMilliseconds, milliseconds } from "../duration.js";
import { codeOf, DulyError } from "../errors.js";
import type * as api from "../generated/api.js";
import { Backoff, limited, now, settledWithin, sleep } from "../time.js";
import type { Transport } from "../transport.js";
import { Attempt, type Handler } from "./attempt.js";
import { Keeper } from "./keeper.js";
import { consoleLogger, type Logger } from "./log.js";
import { Reports } from "./reports.js";
import { Session } from "./session.js";

export interface WorkerOptions {
  /** For people; unique among live nodes. Default: host, process number and a few random characters. */
  name?: string;
  /** The application; workers with the same one share its schedules. Default: main. */
  app?: string;
  /** The program's version, for people. */
  version?: string;
  /** How many occurrences it works on at once. Default 100. */
  slots?: number;
  /** How long running attempts may go on when it drains, before they are cancelled and given back. Default 20 s. */
  drainTime?: Duration;
  /** How long a cancelled handler may take to return before its attempt is reported without it. Default 15 s. */
  cancelGrace?: Duration;
  /** How long the worker may be silent before it counts as gone, 5 s to 1 h. Default 15 s. */
  sessionTtl?: Duration;
  /** How long one request waits for work, at most 60 s. Default 20 s. */
  pollWait?: Duration;
  /** Signals that drain it, such as ["SIGTERM", "SIGINT"]. Default: none; the program calls drain itself. */
  signals?: NodeJS.Signals[];
  /** Default: warnings and errors to the console. */
  logger?: Logger;
}

/** How long a worker that ends tries to deliver its last reports to a server that does not answer. */
const finalReports = 5000;

/** A worker claims what is due and calls the handlers of this program. */
export class Worker {
  private readonly handlers = new Map<string, Handler>();
  private readonly schedules = new Map<string, api.Schedule>();
  private readonly active = new Set<Attempt>();
  private readonly session: Session;
  private readonly keeper: Keeper;
  private readonly reports: Reports;
  private readonly log: Logger;
  private readonly backoff = new Backoff();
  private readonly draining = new AbortController();
  private readonly slots: number;
  private readonly graceTime: number;
  private readonly begun = new AbortController(); // aborts when it has joined, or never will
  private changed = new AbortController(); // aborts when an attempt's code has returned, or it drains
  private running: Promise<void> | undefined;
  private down = false;

  constructor(private readonly transport: Transport, private readonly options: WorkerOptions) {
    this.log = options.logger ?? consoleLogger;
    this.slots = options.slots ?? 100;
    this.graceTime = inMilliseconds(options.cancelGrace ?? 15_000);
    this.session = new Session(
      transport,
      {
        name: options.name ?? `${hostname()}-${process.pid}-${randomBytes(2).toString("hex")}`,
        app: options.app ?? "main", version: options.version ?? "", slots: this.slots, ttl: inMilliseconds(options.sessionTtl ?? 15_000),
      },
      () => this.capabilities(), () => [...this.schedules.values()], () => this.active.size, this.log,
    );
    this.keeper = new Keeper(transport, this.active, () => this.session.node, this.log);
    this.reports = new Reports(transport, () => this.session.node, this.log);
  }

  /** Names the code that does a kind of work. Call it before run. */
  handle<P = unknown>(name: string, handler: Handler<P>): this {
    this.before("handle");
    if (this.handlers.has(name)) throw new DulyError("conflict", `there is a handler ${JSON.stringify(name)} already`);
    this.handlers.set(name, handler as Handler);
    return this;
  }

  /** Says which schedules the program carries. Call it before run. */
  declare(...schedules: api.Schedule[]): this {
    this.before("declare");
    for (const s of schedules) {
      if (!s.id) throw new DulyError("invalid", "is missing", { field: "id" });
      this.schedules.set(s.id, s);
    }
    return this;
  }

  /** Declares a schedule whose handler, named as the schedule is, does its work. */
  schedule<P = unknown>(schedule: Omit<api.Schedule, "target"> & { id: string }, handler: Handler<P>): this {
    this.declare({ ...schedule, target: { handler: schedule.id } });
    return this.handle(schedule.id, handler);
  }

  /**
   * Works until it is drained. A server that is down is waited for; errors are
   * those of a server that refuses the worker at its start.
   */
  run(): Promise<void> {
    return (this.running ??= this.work().finally(() => this.begun.abort()));
  }

  /** Settled when the worker has joined and its schedules are declared, or when run is. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.begun.signal.aborted) resolve();
      else this.begun.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /**
   * Takes no new work, lets what runs end, cancels and gives back what takes too
   * long, and delivers all reports. It is settled when run is.
   */
  async drain(): Promise<void> {
    this.stopClaiming();
    await this.running;
  }

  /** What is wrong with the declared schedules, as far as the server was asked: those are not in force. */
  get faults(): readonly api.DefinitionFault[] {
    return this.session.faults;
  }

  /** Whether it has joined: the server knows it and its schedules. */
  get joined(): boolean {
    return this.session.node !== 0;
  }

  /** Whether the server answers, as far as is known. */
  get available(): boolean {
    return !this.down;
  }

  private before(what: string): void {
    if (this.running !== undefined) throw new DulyError("conflict", `${what} comes before run`);
  }

  private capabilities(): string[] {
    return [...this.handlers.keys()].map((name) => `handler:${name}`);
  }

  private async work(): Promise<void> {
    const onSignal = () => this.stopClaiming();
    for (const signal of this.options.signals ?? []) process.on(signal, onSignal);
    const over = new AbortController();
    try {
      if (!(await this.join())) return;
      const session = this.session.keep(over.signal);
      await this.claim();
      await this.wind();
      over.abort();
      await Promise.all([session, this.keeper.stop()]);
      await this.session.leave();
    } finally {
      over.abort();
      for (const signal of this.options.signals ?? []) process.off(signal, onSignal);
    }
  }

  /** Joins, however long the server is down; false where it was drained before. */
  private async join(): Promise<boolean> {
    while (!this.draining.signal.aborted) {
      try {
        await this.session.join();
        this.begun.abort();
        this.up();
        return true;
      } catch (err) {
        if (codeOf(err) === "invalid") throw err;
        await this.outage(err);
      }
    }
    return false;
  }

  /** Takes work until it is drained. */
  private async claim(): Promise<void> {
    const signal = this.draining.signal;
    const wait = inMilliseconds(this.options.pollWait ?? 20_000);
    while (!signal.aborted) {
      const free = this.slots - this.active.size;
      if (free <= 0) {
        await sleep(60_000, this.changed.signal);
        continue;
      }
      const request: api.ClaimRequest = { node: this.session.node, max: Math.min(free, 1000), capabilities: this.capabilities(), wait: duration(wait) };
      const asked = now();
      try {
        const answer = await limited(wait + 15_000, signal, (s) => this.transport.request<api.ClaimResult>("POST", "/api/v1/claims", { body: request, signal: s }));
        this.up();
        this.session.clockOffset = Date.now() - Date.parse(answer.now);
        const began = asked + milliseconds(answer.waited ?? "0s");
        for (const claim of answer.claims) this.start(claim, began);
        // A server that ends answers at once, with nothing.
        if (answer.claims.length === 0 && now() - asked < 50) await sleep(this.backoff.delay(), signal);
      } catch (err) {
        if (signal.aborted) return;
        if (codeOf(err) === "not_found") await this.join();
        else await this.outage(err);
      }
    }
  }

  private start(claim: api.Claim, began: number): void {
    const attempt = new Attempt(claim, began, this.graceTime, (_, report) => this.reports.put(report));
    this.active.add(attempt);
    this.keeper.look();
    const handler = this.handlers.get(claim.target.handler ?? "") ?? (() => {
      throw new DulyError("not_found", `this worker has no handler ${JSON.stringify(claim.target.handler)}`);
    });
    void attempt.work(handler).finally(() => {
      this.active.delete(attempt);
      this.wake();
    });
  }

  private stopClaiming(): void {
    this.draining.abort();
    this.wake();
  }

  private wake(): void {
    this.changed.abort();
    this.changed = new AbortController();
  }

  /** Lets running attempts end: by themselves, then cancelled. */
  private async wind(): Promise<void> {
    this.session.draining = true;
    if (!(await settledWithin(this.idle(), inMilliseconds(this.options.drainTime ?? 20_000)))) {
      for (const a of this.active) a.end("draining");
      if (!(await settledWithin(this.idle(), this.graceTime + 1000))) {
        this.log.error("handlers ignore their signal; leaving them behind", { running: this.active.size });
      }
    }
    if (!(await settledWithin(this.reports.delivered(), finalReports))) {
      this.log.error("reports could not be delivered; their leases will run out", { reports: this.reports.held });
      this.reports.stop();
    }
  }

  private async idle(): Promise<void> {
    while (this.active.size > 0) await sleep(60_000, this.changed.signal);
  }

  private up(): void {
    this.backoff.reset();
    if (this.down) this.log.info("the server answers again");
    this.down = false;
  }

  /** An outage is logged once, not with every try. */
  private async outage(err: unknown): Promise<void> {
    if (!this.down) this.log.warn("the server does not answer; nothing starts without ownership, trying on", { error: String(err) });
    this.down = true;
    await sleep(this.backoff.delay(), this.draining.signal);
  }
}
