import { DulyError } from "../errors.js";
import { context, type Queue, type Scope, within } from "../grant.js";
import type { Effect } from "./work.js";

/** Those who use a transaction outside of an effect's function. */
const queues = new WeakMap<object, Queue>();

/**
 * Calls fn when it is its turn: savepoints of one transaction can only be nested,
 * so effects of one transaction that were begun side by side come one after the
 * other. Those inside an effect's function do not wait for that effect.
 */
export async function turn<T>(native: object, fn: () => Promise<T>): Promise<T> {
  const queue = queueOf(native);
  const before = queue.tail;
  const mine = before.then(fn, fn);
  queue.tail = mine;
  return mine;
}

function queueOf(native: object): Queue {
  for (let s = context().scope; s !== undefined; s = s.outer) if (s.native === native) return s.queue;
  let queue = queues.get(native);
  if (queue === undefined) queues.set(native, (queue = { tail: Promise.resolve() }));
  return queue;
}

/** Calls an effect's function. In it, the same effect again can only be a mistake, and would wait for itself. */
export function inside<T>(e: Effect, native: object | undefined, fn: () => T): T {
  const outer: Scope | undefined = context().scope;
  return within({ scope: { key: e.key, native, queue: { tail: Promise.resolve() }, outer } }, fn);
}

/** Throws where an effect is asked for inside its own function. */
export function notInside(e: Effect): void {
  for (let s = context().scope; s !== undefined; s = s.outer) {
    if (s.key === e.key) throw new DulyError("conflict", `${e.name} is asked for inside its own function`);
  }
}
