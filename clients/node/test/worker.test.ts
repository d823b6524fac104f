import { expect, onTestFinished, test } from "vitest";
import { type AttemptEnded, Client, DulyError, type Occurrence, permanent, retryAfter, UncertainError, type Worker } from "../src/index.js";
import { Duly, gate, quiet, until } from "./support/duly.js";

/** A schedule that is due once a year, so that only what a test triggers is. */
const yearly = { cron: "0 0 1 1 *", period: "day", retry: { backoff: "1ms", max_backoff: "1ms", max_attempts: 3 } } as const;

async function started(worker: Worker): Promise<Worker> {
  void worker.run();
  await worker.ready();
  return worker;
}

test("a handler is given its occurrence, and its result is kept", async () => {
  const duly = await Duly.start();
  const seen = gate<Occurrence<{ region: string }>>();
  await started(duly.worker({ app: "billing" }).schedule<{ region: string }>({ id: "invoices", ...yearly, payload: { region: "eu" } }, (occ) => {
    occ.setResult({ sent: 3 });
    occ.effects.record("invoice/1", { result: 1 });
    seen.open(occ);
  }));
  await duly.client.schedules.trigger("invoices", { period: "2026-01-01" });
  const occ = await seen.opened;
  expect(occ).toMatchObject({
    id: "invoices@2026-01-01", schedule: "invoices", period: "2026-01-01", covers: ["2026-01-01"], origin: "trigger", attempt: 1,
    resource: "schedule/invoices", idempotencyKey: "invoices@2026-01-01", payload: { region: "eu" },
  });
  expect(occ.token).toBeGreaterThan(0);
  expect(occ.due).toBeInstanceOf(Date);
  const done = await duly.state(occ.id, "succeeded");
  expect(done.attempts[0]).toMatchObject({ token: occ.token, result: { sent: 3 }, effects: { created: 1, reused: 0 } });
  expect((await duly.client.effects({ key: "invoice/1" })).items).toMatchObject([{ occurrence: occ.id, result: 1 }]);
});

test("what a handler throws decides what follows", async () => {
  const duly = await Duly.start();
  const fail: Record<string, () => Error> = {
    plain: () => new Error("boom"),
    final: () => permanent(new Error("no such customer")),
    later: () => retryAfter(new Error("rate limit"), 1),
    unknown: () => new UncertainError("did the bank take it?"),
  };
  const worker = duly.worker();
  for (const [id, err] of Object.entries(fail)) {
    worker.schedule({ id, ...yearly }, () => {
      throw err();
    });
  }
  await started(worker);
  for (const id of Object.keys(fail)) await duly.client.schedules.trigger(id, { period: "2026-01-01" });

  const plain = await duly.state("plain@2026-01-01", "failed");
  expect(plain.attempts.map((a) => a.outcome)).toEqual(["failed", "failed", "failed"]);
  expect(plain.attempts[0]?.error).toBe("boom");
  expect(plain.attempts[0]?.output).toContain("worker.test.ts");
  expect((await duly.state("final@2026-01-01", "failed")).attempts).toHaveLength(1);
  expect((await duly.state("later@2026-01-01", "failed")).attempts).toHaveLength(3);
  const unknown = await duly.state("unknown@2026-01-01", "uncertain");
  expect(unknown.attempts).toMatchObject([{ outcome: "uncertain", error: "did the bank take it?" }]);
});

test("retryAfter puts the next attempt off", async () => {
  const duly = await Duly.start();
  await started(duly.worker().schedule({ id: "a", ...yearly }, () => {
    throw retryAfter(new Error("not yet"), 3_600_000);
  }));
  const asked = Date.now();
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  const waiting = await until(async () => {
    const o = await duly.client.occurrences.get("a@2026-01-01");
    return o.state === "pending" && o.attempts.length === 1 ? o : undefined;
  }, "it does not wait");
  expect(Date.parse(waiting.not_before ?? "") - asked).toBeGreaterThan(3_500_000);
});

test("a person's cancellation aborts the signal, and the attempt is cancelled", async () => {
  const duly = await Duly.start();
  const begun = gate();
  const why = gate<unknown>();
  await started(duly.worker().schedule({ id: "a", ...yearly, lease: "1s" }, async (occ) => {
    begun.open();
    await new Promise((resolve) => occ.signal.addEventListener("abort", resolve));
    why.open(occ.signal.reason);
    occ.throwIfEnded();
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  await begun.opened;
  await duly.client.occurrences.cancel("a@2026-01-01", "not needed");
  expect(await why.opened).toMatchObject({ name: "AttemptEnded", why: "cancelled" });
  const done = await duly.state("a@2026-01-01", "cancelled");
  expect(done.attempts).toMatchObject([{ outcome: "cancelled" }]);
});

test("a schedule's timeout ends an attempt", async () => {
  const duly = await Duly.start();
  await started(duly.worker().schedule({ id: "a", ...yearly, timeout: "1s", retry: { max_attempts: 1 } }, async (occ) => {
    await new Promise((resolve) => occ.signal.addEventListener("abort", resolve));
    occ.throwIfEnded();
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  const done = await duly.state("a@2026-01-01", "failed");
  expect(done.attempts).toMatchObject([{ outcome: "timed_out" }]);
});

test("a handler that ignores its signal is reported without it, and keeps its slot", async () => {
  const duly = await Duly.start();
  const release = gate();
  let calls = 0;
  await started(duly.worker({ slots: 1, cancelGrace: 100 }).schedule({ id: "a", ...yearly, timeout: "1s" }, async () => {
    if (calls++ === 0) await release.opened;
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  await until(async () => (await duly.client.occurrences.get("a@2026-01-01")).attempts[0]?.outcome === "timed_out" || undefined, "it is not reported");
  expect(calls).toBe(1); // the next attempt waits for the slot
  release.open();
  await duly.state("a@2026-01-01", "succeeded");
  expect(calls).toBe(2);
});

test("a lease that is renewed outlives its length many times", async () => {
  const duly = await Duly.start();
  const lost: unknown[] = [];
  await started(duly.worker().schedule({ id: "a", ...yearly, lease: "1s" }, async (occ) => {
    occ.signal.addEventListener("abort", () => lost.push(occ.signal.reason));
    await new Promise((resolve) => setTimeout(resolve, 3500));
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  const done = await duly.state("a@2026-01-01", "succeeded");
  expect(done.attempts).toHaveLength(1);
  expect(lost).toEqual([]);
});

test("renewals go in batches", async () => {
  const duly = await Duly.start();
  const sizes: number[] = [];
  const counting: typeof fetch = (input, init) => {
    if ((input as string).endsWith("/attempts/renew")) sizes.push((JSON.parse(init?.body as string) as { items: unknown[] }).items.length);
    return fetch(input, init);
  };
  const all = gate();
  const end = gate();
  let begun = 0;
  const worker = new Client({ url: duly.url, fetch: counting }).worker({ logger: quiet, pollWait: "5s" });
  onTestFinished(() => worker.drain());
  await duly.client.apply({ owner: "api", queues: [{ name: "wide", concurrency: 20 }] });
  await started(worker.schedule({ id: "a", ...yearly, overlap: "allow", queue: "wide", lease: "2s" }, async () => {
    if (++begun === 20) all.open();
    await end.opened;
  }));
  for (let i = 0; i < 20; i++) await duly.client.schedules.trigger("a", { parallel: true });
  await all.opened;
  sizes.length = 0;
  await until(() => sizes.length >= 4 || undefined, "nothing is renewed");
  end.open();
  expect(Math.max(...sizes)).toBeGreaterThan(10);
  const { items } = await until(async () => {
    const list = await duly.client.occurrences.list({ schedule: "a", state: ["succeeded"] });
    return list.items.length === 20 ? list : undefined;
  }, "not all succeed");
  expect(items.every((o) => o.attempts.length === 1)).toBe(true);
});

test("a long poll's wait is not taken off the lease", async () => {
  const duly = await Duly.start();
  const owned = gate<boolean>();
  const worker = await started(duly.worker({ pollWait: "30s" }).schedule({ id: "a", ...yearly, lease: "1s" }, (occ) => {
    owned.open(occ.owned);
  }));
  await new Promise((resolve) => setTimeout(resolve, 1500)); // the request waits for longer than the lease
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  expect(await owned.opened).toBe(true);
  await worker.drain();
  expect((await duly.client.occurrences.get("a@2026-01-01")).attempts).toHaveLength(1);
});

test("through an outage the signal aborts before the lease has run out, and the report is delivered afterwards", async () => {
  const duly = await Duly.start();
  const begun = gate();
  const ended = gate<{ reason: AttemptEnded; after: number }>();
  await started(duly.worker().schedule({ id: "a", ...yearly, lease: "2s", retry: { max_attempts: 1 } }, async (occ) => {
    if (occ.attempt > 1) return;
    begun.open();
    await new Promise((resolve) => occ.signal.addEventListener("abort", resolve));
    ended.open({ reason: occ.signal.reason as AttemptEnded, after: performance.now() });
    occ.throwIfEnded();
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  await begun.opened;
  const until2 = Date.parse((await duly.client.occurrences.get("a@2026-01-01")).attempts[0]?.lease_until ?? "");
  await duly.kill();
  const { reason } = await ended.opened;
  expect(reason.why).toBe("lease_lost");
  const renewals = 2000 / 3; // the last one may have come just before the end
  expect(Date.now()).toBeLessThan(until2 + renewals + 500);
  await duly.up();
  // The server may end the run-out lease before the report, which is held, is sent again.
  const told = await until(async () => {
    const [attempt] = (await duly.client.occurrences.get("a@2026-01-01")).attempts;
    return attempt?.error ?? attempt?.stale?.error;
  }, "the report is not delivered");
  expect(told).toMatch(/lease/);
});

test("work that ends during an outage is held and accepted afterwards, once", async () => {
  const duly = await Duly.start();
  const begun = gate();
  const finish = gate();
  let calls = 0;
  await started(duly.worker().schedule({ id: "a", ...yearly, lease: "1m" }, async (occ) => {
    calls++;
    begun.open();
    await finish.opened;
    occ.setResult("kept");
  }));
  await duly.client.schedules.trigger("a", { period: "2026-01-01" });
  await begun.opened;
  await duly.kill();
  finish.open();
  await new Promise((resolve) => setTimeout(resolve, 300)); // it reports in vain
  await duly.up();
  const done = await duly.state("a@2026-01-01", "succeeded");
  expect(done.attempts).toMatchObject([{ outcome: "succeeded", result: "kept" }]);
  expect(calls).toBe(1);
});

test("one report that the server cannot take keeps no other, and says at least how it ended", async () => {
  const duly = await Duly.start();
  await started(duly.worker()
    .schedule({ id: "bad", ...yearly }, (occ) => occ.effects.record("", {})) // which no effect may be called
    .schedule({ id: "good", ...yearly }, () => undefined));
  await duly.client.schedules.trigger("bad", { period: "2026-01-01" });
  await duly.client.schedules.trigger("good", { period: "2026-01-01" });
  expect((await duly.state("good@2026-01-01", "succeeded")).attempts).toHaveLength(1);
  expect((await duly.state("bad@2026-01-01", "succeeded")).attempts).toHaveLength(1);
});

test("draining lets work end, gives back what does not, and leaves", async () => {
  const duly = await Duly.start();
  const both = [gate(), gate()];
  const worker = await started(duly.worker({ name: "first", drainTime: 300 })
    .schedule({ id: "quick", ...yearly }, async () => {
      both[0]?.open();
      await new Promise((resolve) => setTimeout(resolve, 100));
    })
    .schedule({ id: "slow", ...yearly }, async (occ) => {
      both[1]?.open();
      await new Promise((resolve) => occ.signal.addEventListener("abort", resolve));
      occ.throwIfEnded();
    }));
  for (const id of ["quick", "slow"]) await duly.client.schedules.trigger(id, { period: "2026-01-01" });
  await Promise.all(both.map((g) => g.opened));
  await worker.drain();
  expect((await duly.client.occurrences.get("quick@2026-01-01")).state).toBe("succeeded");
  const slow = await duly.client.occurrences.get("slow@2026-01-01");
  expect(slow).toMatchObject({ state: "pending", attempts: [{ outcome: "released" }] });
  const node = (await duly.client.nodes()).items.find((n) => n.name === "first");
  expect(node?.state).toBe("left");
});

test("of two workers each occurrence has one", async () => {
  const duly = await Duly.start();
  const calls = new Map<string, number>();
  const handler = (occ: Occurrence) => void calls.set(occ.id, (calls.get(occ.id) ?? 0) + 1);
  for (let i = 0; i < 2; i++) await started(duly.worker({ app: "same", slots: 5 }).schedule({ id: "a", ...yearly, overlap: "allow", queue: "wide" }, handler));
  await duly.client.apply({ owner: "api", queues: [{ name: "wide", concurrency: 20 }] });
  const made = await Promise.all(Array.from({ length: 40 }, (_, i) => duly.client.schedules.trigger("a", { once: `t${i}`, parallel: true })));
  for (const { occurrence } of made) await duly.state(occurrence.id, "succeeded");
  expect(calls.size).toBe(40);
  expect([...calls.values()].every((n) => n === 1)).toBe(true);
});

test("a faulty schedule is told of and keeps no other from being declared", async () => {
  const duly = await Duly.start();
  const errors: string[] = [];
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (m: string, f?: object) => errors.push(m + JSON.stringify(f)) };
  await started(duly.worker({ logger }).schedule({ id: "bad", cron: "0 0 30 2 *" }, () => undefined).schedule({ id: "good", ...yearly }, () => undefined));
  expect(errors.join()).toContain("bad");
  expect((await duly.client.schedules.get("good")).id).toBe("good");
  await expect(duly.client.schedules.get("bad")).rejects.toThrow(DulyError);
});
