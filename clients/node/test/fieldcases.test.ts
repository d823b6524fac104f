import { afterEach, expect, test, vi } from "vitest";
import { Alarm, now, sleep } from "../src/time.js";
import { Duly, gate, until } from "./support/duly.js";

afterEach(() => vi.restoreAllMocks());

const longest = 2 ** 31 - 1;

// B82: a monthly schedule overflowed the 32-bit timer (24.8 days) and was called
// hundreds of times within minutes.
test("B82: no timer of the client is longer than the platform's can be", async () => {
  const duly = await Duly.start();
  const delays: number[] = [];
  const original = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((fn: () => void, ms?: number) => {
    delays.push(ms ?? 0);
    return original(fn, ms);
  }));
  const warnings: string[] = [];
  const warn = (w: Error) => warnings.push(w.name);
  process.on("warning", warn);
  let polls = 0;
  let calls = 0;
  const fetches = vi.spyOn(globalThis, "fetch");
  const running = gate();
  const end = gate();
  const worker = duly.worker({ pollWait: 200 })
    .schedule({ id: "monthly", cron: "0 0 1 * *" }, () => {
      calls++;
    })
    // The schedule's own limits may be longer than a timer can be.
    .schedule({ id: "long", cron: "0 0 1 1 *", lease: "1d", timeout: "40d" }, async (occ) => {
      running.open();
      await end.opened;
      occ.setResult(occ.signal.aborted);
    });
  void worker.run();
  await worker.ready();

  const { items } = await duly.client.schedules.upcoming("monthly", { from: "2027-01-02T00:00:00Z", n: 1 });
  expect(items[0]?.due).toBe("2027-02-01T00:00:00Z");
  expect(Date.parse("2027-02-01T00:00:00Z") - Date.parse("2027-01-02T00:00:00Z")).toBeGreaterThan(longest);

  await duly.client.schedules.trigger("long", { period: "2026-01-01" });
  await running.opened;
  await until(() => {
    polls = fetches.mock.calls.filter(([url]) => (url as string).endsWith("/claims")).length;
    return polls > 10 || undefined;
  }, "it does not poll");
  end.open();
  const done = await duly.state("long@2026-01-01", "succeeded");
  expect(done.attempts).toMatchObject([{ result: false }]);
  await worker.drain();
  process.off("warning", warn);
  expect(calls).toBe(0);
  expect(polls).toBeLessThan(1000);
  expect(warnings).toEqual([]);
  expect(Math.max(...delays)).toBeLessThanOrEqual(longest);
});

test("B82: an alarm and a sleep of thirty days end after thirty days, and not before", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const month = 2_592_000_000;
  const rung: number[] = [];
  const begun = now();
  new Alarm(() => rung.push(now() - begun)).set(begun + month);
  let slept = false;
  void sleep(month).then(() => (slept = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([rung, slept]).toEqual([[], false]);
  await vi.advanceTimersByTimeAsync(month - 60_001);
  expect([rung, slept]).toEqual([[], false]);
  await vi.advanceTimersByTimeAsync(2);
  expect(rung).toHaveLength(1);
  expect(rung[0]).toBeGreaterThanOrEqual(month);
  expect(slept).toBe(true);
  vi.useRealTimers();
});
