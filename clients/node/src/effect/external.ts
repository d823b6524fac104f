import { asError, chain, DulyError, StaleError, UncertainError } from "../errors.js";
import { Alarm, now, sleep } from "../time.js";
import { inTx } from "./intx.js";
import { change, complete, type Entry, insert, read } from "./ledger.js";
import { idempotencyKey } from "./name.js";
import { encode, found, makerOf, type Outcome } from "./once.js";
import { forUpdate, latest, sqlNow, type Db, type Tx, type Value } from "./sql.js";
import { inside, notInside } from "./turn.js";
import { Effect, Work } from "./work.js";

/** An effect outside of the application's database, and how to find out what became of one whose answer was lost. */
export interface ExternalCall<T> {
  /**
   * Has the effect. It passes the key on where the provider takes one: it is the
   * same in every attempt and on every node. An error leaves the outcome unknown,
   * unless it is a notDone. The signal aborts with timeout.
   */
  call: (idempotencyKey: string, signal: AbortSignal) => Promise<T> | T;
  /** Asks the provider whether the effect has happened. Default: it cannot be asked. */
  lookup?: (idempotencyKey: string, signal: AbortSignal) => Promise<Found<T>> | Found<T>;
  /** How many ms the provider remembers idempotency keys, counted from the intent. Default 0: not at all. */
  keyLife?: number;
  /**
   * How many ms a call or a look-up may take. While it lasts nobody else calls for
   * the same key, and after a crash a retry waits until it is over. Default 60000.
   */
  timeout?: number;
}

export type Found<T> = { found: true; result: T } | { found: false };

const unharmed = Symbol.for("duly.not_done");

/**
 * Marks an error of a call that surely had no effect: the provider refused it, or
 * was never reached. The intent is taken back, and a later attempt begins anew.
 */
export function notDone(err: unknown): Error {
  const cause = asError(err);
  return Object.assign(new Error(cause.message, { cause }), { name: cause.name, [unharmed]: true });
}

const isNotDone = (err: unknown): boolean => [...chain(err)].some((e) => (e as { [unharmed]?: boolean })[unharmed] === true);

/**
 * Has an effect at a provider, which no transaction can take back. It commits the
 * intent, calls, and commits the result. A retry that finds an intent without a
 * result does not know what happened, and asks `lookup` where there is one; else
 * repeats the call with the same idempotency key while the provider remembers it;
 * else throws an UncertainError, and the occurrence waits for a person (`duly
 * effects resolve`): nothing is repeated.
 *
 * Of two attempts at the same moment one calls; the other waits and finds its
 * result. One that was paused before its call does not begin it late, and one
 * paused after it cannot record over a newer attempt.
 */
export async function external<T, X>(db: Db<X>, key: string, call: ExternalCall<T>): Promise<Outcome<T>> {
  const w = new Work();
  const e = new Effect(key);
  notInside(e);
  for (const field of ["keyLife", "timeout"] as const) {
    if ((call[field] ?? 0) < 0) throw new DulyError("invalid", "cannot be negative", { field });
  }
  const one = new External(db, w, e, call);
  try {
    const outcome = await one.perform();
    w.record({ key, ...outcome });
    return outcome;
  } catch (err) {
    if (one.open) w.record({ key, open: true });
    throw err;
  }
}

/** What follows for a call once the ledger was asked. */
type Step =
  | { do: "call" | "ask"; until: number; entry?: Entry } // until: by `now`, and never later than by the database's clock
  | { do: "reuse"; entry: Entry }
  | { do: "wait" | "uncertain"; entry?: Entry }; // wait without an entry: it was just taken back

// A waiting call asks again after a pause, which grows.
const firstWait = 10;
const maxWait = 500;

/** The row of this call. */
const own = "business_key = ? AND claim = ? AND state <> 'done'";

class External<T, X> {
  /** It has been intended, by this call or another, and what became of that is not known here. */
  open = false;
  private readonly key: string;
  private readonly timeout: number;

  constructor(private readonly db: Db<X>, private readonly w: Work, private readonly e: Effect, private readonly call: ExternalCall<T>) {
    this.key = idempotencyKey(e.key);
    this.timeout = call.timeout || 60_000;
  }

  async perform(): Promise<Outcome<T>> {
    let step = await this.claim();
    if (step.do === "ask") {
      const answer = await this.ask(step.until);
      if (answer.found) { // this call records what that one did
        const outcome = await this.record(answer.result);
        return outcome.reused ? outcome : { ...outcome, reused: true, maker: step.entry && makerOf(step.entry) };
      }
      step = await this.claimAsked();
    }
    if (step.do === "reuse") return this.reuse(step.entry);
    if (step.do !== "call") throw new DulyError("internal", `${this.e.name}: step ${step.do} leads nowhere`);
    let called = false;
    let result: T;
    try {
      result = await this.ring(step.until, (signal) => {
        called = true;
        return this.call.call(this.key, signal);
      });
    } catch (err) {
      throw await this.settle(called, err);
    }
    return this.record(result);
  }

  /** Finds out what this call is to do, and waits where another is calling. */
  private async claim(): Promise<Step> {
    for (let wait = firstWait; ; wait = Math.min(2 * wait, maxWait)) {
      const step = await inTx(this.db, (tx) => this.tryClaim(tx));
      this.open = step.do !== "reuse" && (step.do !== "wait" || step.entry !== undefined);
      if (step.do === "uncertain") throw this.uncertainty(step.entry);
      if (step.do !== "wait") return step;
      await sleep(wait);
    }
  }

  private async tryClaim(tx: Tx): Promise<Step> {
    const { w, e } = this;
    await w.fence(tx);
    const until = now() + this.timeout; // before the database counts the same time
    const inserted = await insert(tx, w, e, { claimFor: this.timeout, idempotencyKey: this.key });
    // The latter: the answer to the first commit was lost.
    if (inserted === undefined || (inserted.claim === String(w.claim) && inserted.state === "started")) return { do: "call", until };
    // What insert read was not held; nothing may change until we have decided.
    const entry = await read(tx, e, forUpdate(tx.dialect));
    if (entry === undefined) return { do: "wait" }; // an intent that was just taken back
    if (entry.state === "done") return { do: "reuse", entry };
    if (entry.claimUntil > entry.now) return { do: "wait", entry };
    if (entry.calls === 0) { // a person has said that nothing happened
      await this.take(tx, 1);
      return { do: "call", until };
    }
    if (this.call.lookup !== undefined) {
      await this.hold(tx);
      return { do: "ask", until, entry };
    }
    const age = (entry.now - entry.createdAt) / 1000;
    if (age + this.timeout < (this.call.keyLife ?? 0)) { // a call that begins now arrives in time
      await this.take(tx, entry.calls + 1);
      return { do: "call", until };
    }
    await change(tx, e, "UPDATE duly_effects SET state = 'uncertain', claim_until = 0 WHERE business_key = ?", [e.column]);
    return { do: "uncertain", entry };
  }

  /** The claim of a call whose provider knows of no effect yet. */
  private claimAsked(): Promise<Step> {
    return inTx(this.db, async (tx): Promise<Step> => {
      await this.w.fence(tx);
      const until = now() + this.timeout;
      const entry = await read(tx, this.e, forUpdate(tx.dialect));
      if (entry?.state === "done") return { do: "reuse", entry };
      if (entry?.claim !== String(this.w.claim)) {
        throw new StaleError(`${this.e.name}: another attempt has taken over while this one was asking`);
      }
      await this.take(tx, 1);
      return { do: "call", until };
    });
  }

  /** Makes the row this call's: it is the one that calls. */
  private async take(tx: Tx, calls: number): Promise<void> {
    const { w, e } = this;
    await change(tx, e, `UPDATE duly_effects SET state = 'started', calls = ?, claim = ?, claim_until = ${sqlNow[tx.dialect]} + ?,
      occurrence = ?, attempt = ?, token = ?, resource = ? WHERE business_key = ?`,
      [calls, w.claim, this.micros, w.occurrence, w.grant.attempt, w.grant.token, w.resource, e.column]);
  }

  /** Keeps others from calling while the provider is asked. Whoever called before stays the one that may have made the effect. */
  private async hold(tx: Tx): Promise<void> {
    await change(tx, this.e, `UPDATE duly_effects SET state = 'started', claim = ?, claim_until = ${sqlNow[tx.dialect]} + ? WHERE business_key = ?`,
      [this.w.claim, this.micros, this.e.column]);
  }

  private get micros(): number {
    return Math.round(this.timeout * 1000);
  }

  /** Asks the provider, within the time of the claim. */
  private async ask(until: number): Promise<Found<T>> {
    const { lookup } = this.call;
    try {
      return await this.ring(until, async (signal): Promise<Found<T>> => (await lookup?.(this.key, signal)) ?? { found: false });
    } catch (err) {
      await this.release();
      throw new Error(`${this.e.name}: an earlier call's outcome is unknown, and the look-up failed: ${asError(err).message}`, { cause: err });
    }
  }

  /** Calls the provider, unless the time of the claim has already passed: whoever was paused that long may no longer call. */
  private async ring<R>(until: number, fn: (signal: AbortSignal) => Promise<R> | R): Promise<R> {
    if (now() >= until) throw new Error(`${this.e.name}: not called, since its time had passed`);
    const limit = new AbortController();
    const over = new Promise<never>((_, reject) => limit.signal.addEventListener("abort", () => reject(limit.signal.reason as Error)));
    over.catch(() => undefined);
    const alarm = new Alarm(() => limit.abort(new DOMException(`no answer within ${this.timeout} ms`, "TimeoutError")));
    alarm.set(until);
    try {
      return await Promise.race([inside(this.e, undefined, async () => fn(limit.signal)), over]);
    } finally {
      alarm.stop();
    }
  }

  /** Keeps what is known after a call that brought no result, and answers what to throw. */
  private async settle(called: boolean, err: unknown): Promise<unknown> {
    if (!called || isNotDone(err)) {
      this.open = !(await this.takeBack().catch(() => false));
      return err;
    }
    if (this.call.lookup === undefined && !this.call.keyLife) return this.giveUp(err);
    await this.release();
    return new Error(`${this.e.name}: its outcome is unknown and will be found out by the next attempt: ${asError(err).message}`, { cause: err });
  }

  /** Stores a result. */
  private async record(result: T): Promise<Outcome<T>> {
    const { w, e } = this;
    let stored: string | null;
    try {
      stored = encode(e, result);
    } catch (err) {
      await this.release();
      throw new Error(`it has happened, but its result is lost: ${asError(err).message}`, { cause: err });
    }
    const [kept, entry] = await inTx(this.db, async (tx) =>
      (await complete(tx, w, e, stored)) ? [true] as const : [false, await read(tx, e, latest(tx.dialect))] as const,
    ).catch((err: unknown) => {
      throw new Error(`${e.name} has happened, but that could not be recorded: ${asError(err).message}`, { cause: err });
    });
    // The latter: the answer to the first commit was lost.
    if (kept || (entry?.state === "done" && w.made(entry.claim))) {
      return { result: stored === null ? result : (JSON.parse(stored) as T), reused: false };
    }
    if (entry?.state === "done") return this.reuse(entry);
    throw new StaleError(`${e.name}: another attempt has taken over while this one was calling`);
  }

  private reuse(entry: Entry): Outcome<T> {
    this.open = false;
    return found<T>(this.w, this.e, entry);
  }

  /** Lets others find out what happened. */
  private release(): Promise<void> {
    return this.own(async (tx, mine) => {
      await change(tx, this.e, `UPDATE duly_effects SET claim_until = 0 WHERE ${own}`, mine);
    });
  }

  /** Forgets a call that had no effect, and the intent where there was no other call: true then. */
  private takeBack(): Promise<boolean> {
    return this.own(async (tx, mine) => {
      const forgotten = await change(tx, this.e, `DELETE FROM duly_effects WHERE ${own} AND calls <= 1`, mine);
      await change(tx, this.e, `UPDATE duly_effects SET claim_until = 0, calls = calls - 1 WHERE ${own} AND claim_until > 0`, mine);
      return forgotten === 1;
    });
  }

  /** Gives an effect over to a person: this call's outcome is unknown and there is no way to find out. */
  private async giveUp(cause: unknown): Promise<UncertainError> {
    await this.own((tx, mine) => change(tx, this.e, `UPDATE duly_effects SET state = 'uncertain', claim_until = 0 WHERE ${own}`, mine)).catch(() => 0);
    return this.uncertainty(undefined, cause);
  }

  private own<R>(fn: (tx: Tx, mine: Value[]) => Promise<R>): Promise<R> {
    return inTx(this.db, (tx) => fn(tx, [this.e.column, this.w.claim]));
  }

  private uncertainty(entry: Entry | undefined, cause?: unknown): UncertainError {
    const { attempt, occurrence } = entry ?? this.w.grant;
    const why = cause === undefined ? "" : `: ${asError(cause).message}`;
    return new UncertainError(
      `${this.e.name}: a call of attempt ${attempt} of ${JSON.stringify(occurrence)} may or may not have had it${why}; find out from the provider, then \`duly effects resolve\``, cause);
  }
}
