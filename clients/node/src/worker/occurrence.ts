import { external, type ExternalCall } from "../effect/external.js";
import { once, type Outcome, perform } from "../effect/once.js";
import type { Db, Tx } from "../effect/sql.js";
import { DulyError } from "../errors.js";
import type * as api from "../generated/api.js";
import { currentGrant, type Grant, withGrant } from "../grant.js";
import type { Attempt } from "./attempt.js";

/** The server keeps results of this many bytes. */
const maxResult = 256 << 10;

/** The work that a handler is to do. */
export class Occurrence<P = unknown> {
  /** schedule@period */
  readonly id: string;
  readonly schedule: string;
  /** What the work is for, such as the business day "2026-11-28". */
  readonly period: string;
  /** The periods that the work is for: its own, and those merged into it. */
  readonly covers: readonly string[];
  readonly due: Date;
  /** When the schedule was due before: the work's data lies in intervalStart <= t < due. */
  readonly intervalStart?: Date;
  /** What made it: schedule, catch_up, trigger, backfill or external. */
  readonly origin: api.Origin;
  /** 1, 2, 3 … */
  readonly attempt: number;
  /** The fencing token: a destination that has seen a greater one for `resource` must refuse it. */
  readonly token: number;
  readonly resource: string;
  /** The same for every attempt. */
  readonly idempotencyKey: string;
  readonly payload: P;
  /** Its effects, under this attempt's grant. */
  readonly effects: Effects;
  /** What guarded destinations are told. */
  readonly grant: Grant;
  private result: unknown;

  constructor(private readonly own: Attempt, claim: api.Claim) {
    this.id = claim.occurrence;
    this.schedule = claim.schedule;
    this.period = claim.period;
    this.covers = claim.covers;
    this.due = new Date(claim.due);
    this.intervalStart = claim.interval_start === undefined ? undefined : new Date(claim.interval_start);
    this.origin = claim.origin;
    this.attempt = claim.attempt;
    this.token = claim.token;
    this.resource = claim.fencing_resource;
    this.idempotencyKey = claim.idempotency_key;
    this.payload = claim.payload as P;
    const recorded: api.EffectReport[] = [];
    this.grant = {
      occurrence: this.id, attempt: this.attempt, token: this.token, resource: this.resource,
      record: (effect) => recorded.push(effect),
    };
    this.effects = new Effects(this.grant, recorded);
  }

  /**
   * Aborts when the work should stop; its reason, an AttemptEnded, says why. It
   * does so before the lease can have run out, unless the event loop is blocked.
   */
  get signal(): AbortSignal {
    return this.own.signal;
  }

  /** Whether the attempt surely is owned still. It asks the clock, so it is right after a blocked event loop too. */
  get owned(): boolean {
    return this.own.owned();
  }

  /** Throws the reason for which the work should stop, where there is one. */
  throwIfEnded(): void {
    this.own.owned();
    this.signal.throwIfAborted();
  }

  /** Keeps a value as JSON with the attempt, 256 KiB at most. */
  setResult(value: unknown): void {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined && Buffer.byteLength(text) > maxResult) {
      throw new DulyError("invalid", `the result is larger than ${maxResult} bytes; store it elsewhere and keep a reference`, { field: "result" });
    }
    this.result = text === undefined ? undefined : JSON.parse(text);
  }

  /** What setResult was given. */
  get resultSet(): unknown {
    return this.result;
  }
}

/** Effects under the grant of an attempt, whatever asynchronous context the call comes from. */
export class Effects {
  constructor(private readonly grant: Grant, private readonly told: api.EffectReport[]) {}

  /** See the function once. */
  once<T>(tx: Tx, key: string, fn: () => Promise<T> | T): Promise<Outcome<T>> {
    return withGrantKept(this.grant, () => once(tx, key, fn));
  }

  /** See the function perform. */
  perform<T, X>(db: Db<X>, key: string, fn: (tx: X) => Promise<T> | T): Promise<Outcome<T>> {
    return withGrantKept(this.grant, () => perform(db, key, fn));
  }

  /** See the function external. */
  external<T, X>(db: Db<X>, key: string, call: ExternalCall<T>): Promise<Outcome<T>> {
    return withGrantKept(this.grant, () => external(db, key, call));
  }

  /** Tells history of an effect that was kept elsewhere. */
  record(key: string, effect: { reused?: boolean; result?: unknown } = {}): void {
    this.told.push({ key, reused: effect.reused ?? false, result: effect.result });
  }

  /** What history will be told. */
  get recorded(): readonly api.EffectReport[] {
    return this.told;
  }
}

/** Like withGrant, but the effects around stay known. */
function withGrantKept<T>(grant: Grant, fn: () => T): T {
  return currentGrant() === grant ? fn() : withGrant(grant, fn);
}
