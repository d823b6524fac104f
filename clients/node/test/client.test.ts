import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { all, Client, codeOf, DulyError, milliseconds, permanent, retryAfter } from "../src/index.js";
import { adviceOf } from "../src/errors.js";
import { faultOf } from "../src/effect/fault.js";
import { Duly } from "./support/duly.js";

const dir = fileURLToPath(new URL("../", import.meta.url));

test("what is generated is what the server and the ledger say", () => {
  execFileSync(process.execPath, ["scripts/generate.mjs", "--check"], { cwd: dir, stdio: "pipe" });
});

test("the package is there as ES modules and as CommonJS, which share a grant", () => {
  const use = `const { withGrant } = await import("@duly/client"); const { createRequire } = await import("node:module");
    const { currentGrant, Client } = createRequire(process.cwd() + "/x.js")("@duly/client");
    for (const path of ["fence", "pg", "mysql2", "better-sqlite3", "knex", "kysely", "typeorm", "prisma", "drizzle"]) {
      await import("@duly/client/" + path); createRequire(process.cwd() + "/x.js")("@duly/client/" + path);
    }
    console.log(withGrant({ token: 5 }, () => currentGrant().token), typeof Client);`;
  expect(execFileSync(process.execPath, ["--input-type=module", "-e", use], { cwd: dir, encoding: "utf8" })).toBe("5 function\n");
});

test("the package needs nothing at run time", () => {
  const manifest = JSON.parse(readFileSync(`${dir}package.json`, "utf8")) as { dependencies?: object; peerDependencies: object; peerDependenciesMeta: object };
  expect(manifest.dependencies).toBeUndefined();
  expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies));
});

test("schedules and occurrences are made, listed, paused, triggered, retried and removed", async () => {
  const { client } = await Duly.start();
  const { schedules, occurrences } = client;
  for (const id of ["a", "b/c", "d"]) {
    expect(await schedules.put(id, { cron: "0 0 * * *", period: "day", overlap: "allow", target: { handler: "nobody" } })).toMatchObject({ id });
  }
  const ids: (string | undefined)[] = [];
  for await (const s of all((cursor) => schedules.list({ limit: 1, cursor }))) ids.push(s.id);
  expect(ids).toEqual(["a", "b/c", "d"]);
  expect(await schedules.pause("b/c", { why: "holidays" })).toMatchObject({ paused: { why: "holidays" } });
  expect((await schedules.list({ paused: true })).items.map((s) => s.id)).toEqual(["b/c"]);
  expect((await schedules.resume("b/c")).paused).toBeUndefined();
  const once = await schedules.trigger("b/c", { once: "x", payload: { n: 1 } });
  expect(once.status).toBe("created");
  expect((await schedules.trigger("b/c", { once: "x" })).status).toBe("duplicate");
  expect(await schedules.backfill("a", { from: "2026-11-01T00:00:00Z", to: "2026-11-04T00:00:00Z", dry_run: true })).toMatchObject({ created: 3 });
  const { id } = once.occurrence;
  expect(await occurrences.get(id)).toMatchObject({ state: "pending", schedule: "b/c" });
  expect(await occurrences.cancel(id, "test")).toMatchObject({ state: "cancelled" });
  expect((await occurrences.list({ schedule: "b/c", state: ["cancelled", "failed"] })).items).toHaveLength(1);
  await schedules.delete("d");
  const gone = await schedules.get("d").catch((err: unknown) => err);
  expect(gone).toBeInstanceOf(DulyError);
  expect(gone).toMatchObject({ code: "not_found", status: 404 });
});

test("an actor is named in the audit, whatever characters it has", async () => {
  const duly = await Duly.start();
  const client = new Client({ url: duly.url, actor: "ann\n" });
  await client.schedules.put("a", { cron: "0 0 * * *", target: { handler: "x" } });
  expect((await client.audit({ object: "schedule/a" })).items[0]?.by).toMatch(/^ann/);
});

test("faults name the field that is to blame", async () => {
  const { client } = await Duly.start();
  const err = await client.schedules.put("a", { cron: "0 0 30 2 *", target: { handler: "x" } }).catch((e: unknown) => e);
  expect(err).toMatchObject({ code: "invalid", status: 422, field: "cron" });
});

test("a server that cannot be reached, and one that is no Duly, are told apart", async () => {
  await expect(new Client({ url: "http://127.0.0.1:1" }).stats()).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("cannot be reached") as string });
  const html = () => Promise.resolve(new Response("<html>", { status: 200 }));
  await expect(new Client({ fetch: html }).stats()).rejects.toMatchObject({ code: "internal", message: expect.stringContaining("is this a Duly server?") as string });
  const gateway = () => Promise.resolve(new Response("bad gateway", { status: 502 }));
  await expect(new Client({ fetch: gateway }).stats()).rejects.toMatchObject({ code: "unavailable" });
});

test("durations are read as the server writes them", () => {
  const cases: Record<string, number> = { "0s": 0, "30s": 30_000, "1h30m": 5_400_000, "7d": 604_800_000, "2w1d": 1_296_000_000, "1.5s": 1500, "250ms": 250, "1.234567ms": 1.234567, "10µs": 0.01 };
  for (const [text, ms] of Object.entries(cases)) expect(milliseconds(text), text).toBeCloseTo(ms, 6);
  for (const text of ["", "5", "s", "1x", "-1s", "1 s"]) expect(() => milliseconds(text), text).toThrow(DulyError);
});

test("advice is found through causes, and errors stay themselves", () => {
  const cause = new TypeError("x");
  const err = permanent(retryAfter(cause, 5));
  expect(adviceOf(new Error("outer", { cause: err }))).toEqual({ permanent: true, retryAfter: 5 });
  expect([err.name, err.message, err.cause]).toMatchObject(["TypeError", "x", { cause }]);
  expect(adviceOf(cause)).toEqual({});
  expect(codeOf(new Error("outer", { cause: new DulyError("stale_token", "x") }))).toBe("stale_token");
});

test("database faults are read from codes, wherever they stand", () => {
  const coded = (code: string, more: object = {}) => Object.assign(new Error("x"), { code, ...more });
  expect(faultOf("postgres", coded("40001"))).toBe("conflict");
  expect(faultOf("postgres", { cause: coded("23505") })).toBe("duplicate");
  expect(faultOf("postgres", { driverError: coded("08006") })).toBe("lost");
  expect(faultOf("postgres", coded("P2010", { meta: { driverAdapterError: { cause: { originalCode: "42P01" } } } }))).toBe("no_table");
  expect(faultOf("postgres", coded("EPIPE"))).toBe("lost");
  expect(faultOf("postgres", new Error("Connection terminated unexpectedly"))).toBe("lost");
  expect(faultOf("postgres", coded("22001"))).toBe("refused");
  expect(faultOf("mysql", coded("ER_DUP_ENTRY", { errno: 1062 }))).toBe("duplicate");
  expect(faultOf("mysql", { errors: [coded("ER_LOCK_DEADLOCK", { errno: 1213 })] })).toBe("conflict");
  expect(faultOf("sqlite", coded("SQLITE_BUSY_SNAPSHOT"))).toBe("conflict");
  expect(faultOf("sqlite", coded("SQLITE_CONSTRAINT_PRIMARYKEY"))).toBe("duplicate");
  expect(faultOf("sqlite", new Error("database is locked"))).toBe("other");
  expect(faultOf("postgres", new DulyError("unavailable", "x"))).toBe("other");
});
