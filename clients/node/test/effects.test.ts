import { describe, expect, test } from "vitest";
import { codeOf, external, idempotencyKey, migrate, notDone, perform, UncertainError, unowned, withGrant } from "../src/index.js";
import { checkFence, sqlFence } from "../src/fence/index.js";
import { once } from "../src/index.js";
import { database, go, type GoAnswer, type Ledger, ways } from "./support/ledgers.js";

const resource = "schedule/invoices";
const grant = (token: number, attempt = 1) => ({ occurrence: "invoices@2026-11-28", attempt, token, resource });

/** Has an effect under a grant, and writes a business row with it. */
function invoice(l: Ledger, key: string, number: number, token = 7) {
  return withGrant(grant(token), () => perform(l.db, key, async (tx) => {
    await l.write(tx, `INSERT INTO invoices (number) VALUES (${number})`);
    return { number, note: "Größe 😀 'quoted' \\ \"" };
  }));
}

describe.each(Object.entries(ways))("%s", (_, way) => {
  async function open() {
    const db = await database(way.dialect);
    const l = await way.open(db);
    await migrate(l.db);
    await migrate(l.db); // changes nothing
    await l.db.transaction(async (tx) => l.write(tx, "CREATE TABLE invoices (number integer PRIMARY KEY)"));
    const rows = () => l.db.transaction(async (_tx, t) => (await t.query("SELECT number FROM invoices ORDER BY number", [])).map((r) => Number(r["number"])));
    return { db, l, rows, ask: go(db) };
  }

  test("an effect happens once, in the transaction of its business row", async () => {
    const { l, rows } = await open();
    const first = await invoice(l, "invoice/42", 1);
    expect(first).toEqual({ result: { number: 1, note: "Größe 😀 'quoted' \\ \"" }, reused: false });
    const second = await invoice(l, "invoice/42", 2, 8);
    expect(second).toMatchObject({ result: first.result, reused: true, maker: { occurrence: "invoices@2026-11-28", attempt: 1, token: 7 } });
    expect(await rows()).toEqual([1]);

    const failing = withGrant(grant(8), () => perform(l.db, "invoice/43", async (tx) => {
      await l.write(tx, "INSERT INTO invoices (number) VALUES (3)");
      throw new Error("boom");
    }));
    await expect(failing).rejects.toThrow("boom");
    expect(await rows()).toEqual([1]);
    expect(await invoice(l, "invoice/43", 4, 8)).toMatchObject({ reused: false });
  });

  test("once takes back alone what fails, in the application's own transaction", async () => {
    const { l, rows } = await open();
    await l.db.transaction(async (tx, t) => withGrant(grant(1), async () => {
      await l.write(tx, "INSERT INTO invoices (number) VALUES (1)");
      const failing = once(t, "a", async () => {
        await l.write(tx, "INSERT INTO invoices (number) VALUES (2)");
        throw new Error("boom");
      });
      await expect(failing).rejects.toThrow("boom");
      // Side by side in one transaction they come one after the other, and one may hold another.
      const both = await Promise.all([
        once(t, "b", async () => (await once(t, "c", () => "inner")).result),
        once(t, "c", () => "outer"),
      ]);
      expect(both.map((o) => o.result)).toEqual(["inner", "inner"]);
      await expect(once(t, "d", () => once(t, "d", () => 1))).rejects.toMatchObject({ code: "conflict" });
    }));
    expect(await rows()).toEqual([1]);
  });

  test("what Go has made Node reuses, and the other way round", async () => {
    const { l, ask } = await open();
    const strange = ["invoice/1", "größe 😀", "tab\tnul\u0000 end ", "x".repeat(300), `${"ü".repeat(200)}\\`];
    for (const key of strange) {
      const made = await ask({ do: "once", key: `go/${key}`, result: { by: "Go", n: 1 }, ...grant(3) });
      expect(made).toMatchObject({ reused: false });
      const found = await withGrant(grant(3), () => perform(l.db, `go/${key}`, () => ({ by: "Node", n: 2 })));
      expect(found).toMatchObject({ result: { by: "Go", n: 1 }, reused: true });

      await withGrant(grant(3, 2), () => perform(l.db, `node/${key}`, () => ({ by: "Node", note: "ü" })));
      const again = await ask({ do: "once", key: `node/${key}`, result: { by: "Go" }, ...grant(3) });
      expect(again).toMatchObject({ result: { by: "Node", note: "ü" }, reused: true });
      const { entry } = await ask({ do: "get", key: `node/${key}` });
      expect(entry).toMatchObject({ key: `node/${key}`, state: "done", occurrence: "invoices@2026-11-28", attempt: 2, token: 3, resource });
    }
    await ask({ do: "batch", keys: ["b/1", "b/2", "b/3"], ...grant(3) });
    const ofBatch = await withGrant(grant(3), () => perform(l.db, "b/2", () => "Node"));
    expect(ofBatch).toMatchObject({ result: "batch of Go: b/2", reused: true, maker: { token: 3 } });
    // What has no result has none on either side.
    await withGrant(grant(3), () => perform(l.db, "void", () => undefined));
    expect(await withGrant(grant(3), () => perform(l.db, "void", () => 1))).toMatchObject({ result: undefined, reused: true });
  });

  test("the fence that one of them has raised refuses the other", async () => {
    const { l, rows, ask } = await open();
    await invoice(l, "a", 1, 5);
    expect(await ask({ do: "once", key: "b", result: 1, ...grant(4) })).toMatchObject({ code: "stale_token" });
    expect(await ask({ do: "fence", resource, token: 6 })).toEqual({ reused: false });
    await expect(invoice(l, "c", 2, 5)).rejects.toMatchObject({ code: "stale_token", name: "StaleError" });
    await expect(sqlFence(l.db).raise(resource, 5)).rejects.toMatchObject({ code: "stale_token" });
    await sqlFence(l.db).raise(resource, 6);
    expect(await rows()).toEqual([1]);
    const long = `schedule/${"ä".repeat(200)}`;
    await l.db.transaction((_tx, t) => checkFence(t, long, 9));
    expect(await ask({ do: "fence", resource: long, token: 8 })).toMatchObject({ code: "stale_token" });
  });

  test("an external effect is not repeated while its outcome is unknown", async () => {
    const { l, ask } = await open();
    let calls = 0;
    const key = "payment/42";
    const lost = () => external(l.db, key, { call: () => { calls++; throw new Error("timeout"); } });
    await expect(withGrant(grant(2), lost)).rejects.toThrow(UncertainError);
    await expect(withGrant(grant(3), lost)).rejects.toThrow(UncertainError);
    expect(await ask({ do: "external", key, result: 1, ...grant(3) })).toMatchObject({ code: "uncertain" });
    expect(calls).toBe(1);

    const refused = () => external(l.db, "payment/43", { call: () => { throw notDone(new Error("no such card")); } });
    await expect(withGrant(grant(3), refused)).rejects.toThrow("no such card");
    const paid = await withGrant(grant(3), () => external(l.db, "payment/43", { call: (k) => ({ charged: k }) }));
    expect(paid).toEqual({ result: { charged: idempotencyKey("payment/43") }, reused: false });
    expect(await ask({ do: "external", key: "payment/43", result: 1, ...grant(3) })).toMatchObject({ result: paid.result, reused: true });

    // With a look-up what was lost is found; with a key that lives it is repeated.
    await expect(withGrant(grant(3), () => external(l.db, "payment/44", { call: () => { throw new Error("reset"); }, keyLife: 3_600_000 }))).rejects.toThrow("reset");
    const looked = await withGrant(grant(4), () => external(l.db, "payment/44", { call: () => "second", lookup: () => ({ found: true, result: "first" }) }));
    expect(looked).toMatchObject({ result: "first", reused: true, maker: { token: 3 } });
    let same = "";
    await expect(withGrant(grant(4), () => external(l.db, "payment/45", { call: (k) => { same = k; throw new Error("reset"); }, keyLife: 3_600_000 }))).rejects.toThrow("reset");
    const repeated = await withGrant(grant(4), () => external(l.db, "payment/45", { call: (k) => k, keyLife: 3_600_000 }));
    expect(repeated).toEqual({ result: same, reused: false });
  });

  test("many at the same moment have an effect once", async () => {
    const { l, rows } = await open();
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => invoice(l, "same", i)));
    expect(all.filter((o) => !o.reused)).toHaveLength(1);
    expect(new Set(all.map((o) => o.result.number)).size).toBe(1);
    expect(await rows()).toHaveLength(1);
  });

  test("missing tables and missing grants are said so", async () => {
    const l = await way.open(await database(way.dialect));
    await expect(withGrant(grant(1), () => perform(l.db, "a", () => 1))).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining("duly effects ddl") as string });
    await expect(perform(l.db, "a", () => 1)).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining("no grant") as string });
    await migrate(l.db);
    expect(await unowned(() => perform(l.db, "a", () => 1))).toEqual({ result: 1, reused: false });
  });
});

test("keys are written as Go writes them", async () => {
  const ask = go(await database("sqlite"));
  const { keyColumns } = await import("../src/effect/name.js");
  const keys = ["a", " ", "a ", "\\", '"', "'", "\u0000\u0007\b\f\n\r\t\v\u001b\u007f", "ÿ", "\u2028", "\ufffd", "😀", "x".repeat(190), "x".repeat(191), "ü".repeat(32), "a\\\" "];
  for (const key of keys) {
    const answer: GoAnswer = await ask({ do: "name", key });
    const { column, whole } = keyColumns(key);
    expect({ column, whole: whole ?? undefined }, JSON.stringify(key)).toEqual({ column: answer.column, whole: answer.whole });
    expect(idempotencyKey(key)).toBe(answer.idempotency_key);
  }
  expect(codeOf(new Error("x"))).toBe("internal");
});
