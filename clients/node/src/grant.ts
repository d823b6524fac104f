import { AsyncLocalStorage } from "node:async_hooks";
import type { EffectReport } from "./generated/api.js";

/**
 * The ownership under which code causes effects. It follows a handler's
 * asynchronous calls, so that effects and fences find it by themselves.
 */
export interface Grant {
  /** schedule@period */
  readonly occurrence: string;
  readonly attempt: number;
  /** The fencing token: a destination that has seen a greater one for `resource` refuses this one. */
  readonly token: number;
  readonly resource: string;
  /** Tells history of an effect. */
  readonly record?: (effect: EffectReport) => void;
}

/** What is known of the code that runs: who owns it, and in which effects it is. */
export interface Context {
  readonly grant?: Grant;
  readonly unowned?: boolean;
  readonly scope?: Scope;
}

/** The effects whose functions are being called, innermost first. */
export interface Scope {
  readonly key: string;
  /** The transaction that the function works in; undefined outside of one. */
  readonly native?: object;
  /** Those who use that transaction inside the function come one after the other. */
  readonly queue: Queue;
  readonly outer?: Scope;
}

export interface Queue {
  tail: Promise<unknown>;
}

// A program may hold this package twice, as ES modules and as CommonJS; both
// must find the same grant.
const slot = Symbol.for("duly.context.v1");
const shared = globalThis as { [slot]?: AsyncLocalStorage<Context> };
const storage = (shared[slot] ??= new AsyncLocalStorage<Context>());

export const context = (): Context => storage.getStore() ?? {};

export function within<T>(more: Context, fn: () => T): T {
  return storage.run({ ...context(), ...more }, fn);
}

/** The grant of the code that runs, undefined where it has none. */
export const currentGrant = (): Grant | undefined => context().grant;

/** Calls fn under a grant: for work whose grant came by another way, such as a request's headers. */
export function withGrant<T>(grant: Grant, fn: () => T): T {
  return within({ grant, scope: undefined }, fn);
}

/**
 * Calls fn, which no lease owns: a request handler, a script, a test. The
 * business keys of its effects count all the same, but no fence guards them.
 */
export function unowned<T>(fn: () => T): T {
  return within({ unowned: true }, fn);
}
