// Timers and the clock that leases are counted on. A timer of the platform that
// is given more than 2^31-1 ms fires at once, so none but those here may be used.

const longest = 2 ** 31 - 1;

/** Milliseconds on a clock that nobody sets. */
export const now = (): number => performance.now();

/**
 * An alarm rings once when its time has come, however far away that is. It may
 * be set anew as often as one likes, and keeps no process alive.
 */
export class Alarm {
  private at = Infinity;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ring: () => void) {}

  /** Sets it to a time of `now`. */
  set(at: number): void {
    this.at = at;
    clearTimeout(this.timer);
    if (at === Infinity) return;
    this.timer = setTimeout(() => this.wake(), Math.min(Math.max(at - now(), 0), longest));
    this.timer.unref();
  }

  stop(): void {
    this.set(Infinity);
  }

  private wake(): void {
    if (now() < this.at) return this.set(this.at);
    this.at = Infinity;
    this.ring();
  }
}

/** Waits; a signal ends the wait early. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const until = now() + ms;
    let timer: NodeJS.Timeout;
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const wait = () => {
      const left = until - now();
      if (left <= 0) { end(); return; }
      timer = setTimeout(wait, Math.min(Math.ceil(left), longest));
    };
    signal?.addEventListener("abort", end, { once: true });
    wait();
  });
}

/**
 * How much of a lease its holder believes in. The rest covers a timer that fires
 * late and the time that code needs to stop.
 */
export function trustWindow(lease: number): number {
  return lease - Math.min(lease / 4, Math.max(lease / 10, 200));
}

/** Waits that grow from 100 ms to 5 s, spread so that nodes do not come back all at once. */
export class Backoff {
  private next = 100;

  reset(): void {
    this.next = 100;
  }

  delay(): number {
    const base = this.next;
    this.next = Math.min(2 * base, 5000);
    return base * (0.5 + Math.random());
  }
}

/** Calls fn with a signal that aborts after ms, or when `parent` does. */
export async function limited<T>(ms: number, parent: AbortSignal | undefined, fn: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const alarm = new Alarm(() => limit.abort(new DOMException(`no answer within ${Math.round(ms)} ms`, "TimeoutError")));
  const end = () => limit.abort(parent?.reason);
  if (parent?.aborted) end();
  parent?.addEventListener("abort", end, { once: true });
  alarm.set(now() + ms);
  try {
    return await fn(limit.signal);
  } finally {
    alarm.stop();
    parent?.removeEventListener("abort", end);
  }
}

/** Whether p is settled within ms. */
export async function settledWithin(p: Promise<unknown>, ms: number): Promise<boolean> {
  const early = new AbortController();
  let settled = false;
  const done = p.then(() => undefined, () => undefined).then(() => {
    settled = true;
    early.abort();
  });
  await Promise.race([done, sleep(ms, early.signal)]);
  early.abort();
  return settled;
}
