import { DulyError } from "../errors.js";
import type { EffectMaker } from "../generated/api.js";
import { complete, type Entry, insert } from "./ledger.js";
import { inTx } from "./intx.js";
import { json } from "./name.js";
import { savepoint } from "./savepoint.js";
import type { Db, Tx } from "./sql.js";
import { inside, notInside, turn } from "./turn.js";
import { Effect, Work } from "./work.js";

/** The result of an effect, and whether it was found: it had happened before. */
export interface Outcome<T> {
  result: T;
  reused: boolean;
  /** Who made a reused one, where the ledger knows. */
  maker?: EffectMaker;
}

/**
 * Has an effect at most once under its business key, in the application's own
 * open transaction: it checks the fence, takes the key, calls fn, which does its
 * work in the same transaction, and stores its result as JSON. Where the effect
 * has happened, the stored result is returned and fn is not called; a transaction
 * that is just having the same effect is waited for.
 *
 * All of it becomes true when the application commits, and none of it when it
 * does not. Where fn fails, its writes and the key are taken back to a savepoint.
 *
 * Errors: stale_token; invalid (no grant, a bad key, missing tables, a read-only
 * or doomed transaction); conflict (the key is that of an external effect whose
 * outcome is open); unavailable (another transaction was in the way); fn's own.
 */
export async function once<T>(tx: Tx, key: string, fn: () => Promise<T> | T): Promise<Outcome<T>> {
  const w = new Work();
  const e = new Effect(key);
  notInside(e);
  return turn(tx.native, async () => {
    await w.fence(tx); // before the savepoint, so that it holds even where fn fails
    const outcome = await savepoint(tx, e, () => have(tx, w, e, fn));
    w.record({ key, ...outcome });
    return outcome;
  });
}

/**
 * Is once in a transaction of its own: it begins one, lets fn work in it, and
 * commits. Conflicts with other transactions, and a connection that was lost,
 * begin it all anew, ten times at most, so fn can be called more than once.
 */
export async function perform<T, X>(db: Db<X>, key: string, fn: (tx: X) => Promise<T> | T): Promise<Outcome<T>> {
  const w = new Work();
  const e = new Effect(key);
  notInside(e);
  const outcome = await inTx(db, async (tx, native) => {
    w.again();
    await w.fence(tx); // without a savepoint: what fails here takes the whole transaction back
    return have(tx, w, e, () => fn(native));
  });
  w.record({ key, ...outcome });
  return outcome;
}

/** Takes the key and calls fn, or finds what became of it before. */
async function have<T>(tx: Tx, w: Work, e: Effect, fn: () => Promise<T> | T): Promise<Outcome<T>> {
  const existing = await insert(tx, w, e);
  if (existing !== undefined) {
    if (existing.state !== "done") throw open(e, existing);
    return found<T>(w, e, existing);
  }
  const result = await inside(e, tx.native, async () => fn());
  const stored = encode(e, result);
  if (!(await complete(tx, w, e, stored))) {
    throw new DulyError("conflict", `${e.name}: its function has ended the transaction that it is part of`);
  }
  return { result: stored === null ? result : (JSON.parse(stored) as T), reused: false };
}

/** A result as it is stored, so that what a retry finds is what the first call returned. */
export function encode(e: Effect, result: unknown): string | null {
  try {
    return json(result);
  } catch (err) {
    throw new DulyError("invalid", `${e.name}: its result cannot be stored as JSON: ${String(err)}`, { cause: err });
  }
}

/** An effect that was there already. */
export function found<T>(w: Work, e: Effect, entry: Entry): Outcome<T> {
  const result = decode<T>(e, entry);
  if (w.made(entry.claim)) return { result, reused: false };
  return { result, reused: true, maker: makerOf(entry) };
}

export function makerOf({ occurrence, attempt, token, createdAt }: Entry): EffectMaker | undefined {
  if (occurrence === "" || occurrence.includes("\\")) return undefined; // no lease owned its code
  return { occurrence, attempt, token, created_at: new Date(createdAt / 1000).toISOString() };
}

function decode<T>(e: Effect, entry: Entry): T {
  if (entry.result === undefined) return undefined as T;
  try {
    return JSON.parse(entry.result) as T;
  } catch (err) {
    throw new DulyError("invalid", `${e.name} happened before, but its stored result cannot be read: ${String(err)}`, { cause: err });
  }
}

/** The answer about a key whose effect may or may not have happened. */
function open(e: Effect, entry: Entry): DulyError {
  return new DulyError("conflict",
    `${e.name} is an external one whose outcome is open: ${entry.state} since attempt ${entry.attempt} of ${JSON.stringify(entry.occurrence)}`);
}
