import { expect, test } from "vitest";
import { currentGrant } from "../src/index.js";
import { Duly, gate } from "./support/duly.js";

test("a lease has one holder at a time, and each a greater token", async () => {
  const duly = await Duly.start();
  const first = await duly.client.lease("nightly/report", { ttl: "5s", holder: "test" });
  const refused = await duly.client.lease("nightly/report").catch((err: unknown) => err);
  expect(refused).toMatchObject({ code: "conflict", lease: { holder: "test", token: first.token } });
  const waiting = duly.client.withLease("nightly/report", { wait: "30s" }, (lease) => [lease.token, currentGrant()?.token]);
  await first.release();
  const [token, granted] = await waiting;
  expect(token).toBeGreaterThan(first.token);
  expect(granted).toBe(token);
  expect((await duly.client.leases()).items.filter((l) => l.holder !== "")).toEqual([]);
});

test("a lease is renewed for as long as it is held", async () => {
  const duly = await Duly.start();
  await duly.client.withLease("a", { ttl: "1s" }, async (lease) => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(lease.held).toBe(true);
    expect(lease.signal.aborted).toBe(false);
  });
});

test("a lease that cannot be renewed is lost before it has run out", async () => {
  const duly = await Duly.start();
  const lease = await duly.client.lease("a", { ttl: "2s" });
  const lost = gate<number>();
  const begun = performance.now();
  lease.signal.addEventListener("abort", () => lost.open(performance.now() - begun));
  await duly.kill();
  // Whatever was renewed until then, two seconds after the last renewal it is over.
  expect(await lost.opened).toBeLessThan(2000 + 700);
  expect(lease.held).toBe(false);
  expect(lease.signal.reason).toMatchObject({ why: "lease_lost" });
});

test("an error of the function releases the lease and comes through", async () => {
  const duly = await Duly.start();
  await expect(duly.client.withLease("a", {}, () => { throw new Error("boom"); })).rejects.toThrow("boom");
  await (await duly.client.lease("a")).release();
});
