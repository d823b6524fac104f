import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { sqlite } from "../src/adapters/better-sqlite3.js";
import { migrate } from "../src/index.js";
import { Duly, until } from "./support/duly.js";
import { database } from "./support/ledgers.js";

interface Said {
  what: string;
  [field: string]: unknown;
}

/** A worker in a process of its own. */
class Child {
  readonly said: Said[] = [];
  readonly exited: Promise<number | null>;
  private constructor(readonly process: ChildProcess & { stdout: Readable }) {
    createInterface({ input: process.stdout }).on("line", (line) => this.said.push(JSON.parse(line) as Said));
    this.exited = new Promise((resolve) => process.once("exit", resolve));
    onTestFinished(() => void process.kill("SIGKILL"));
  }

  static start(duly: Duly, file: string, lease: string): Child {
    const path = fileURLToPath(new URL("support/worker-child.mjs", import.meta.url));
    return new Child(spawn(process.execPath, [path, JSON.stringify({ url: duly.url, file, lease })], { stdio: ["pipe", "pipe", "inherit"] }));
  }

  hears(what: string): Promise<Said> {
    return until(() => this.said.find((s) => s.what === what), `the child does not say ${what}, but ${JSON.stringify(this.said)}`);
  }
}

async function setup(payload: object) {
  const duly = await Duly.start();
  const { name: file } = await database("sqlite");
  const app = new SqliteDriver(file);
  onTestFinished(() => void app.close());
  await migrate(sqlite(app));
  app.exec("CREATE TABLE invoices (made_by integer)");
  const first = Child.start(duly, file, "2s");
  await until(async () => (await duly.client.schedules.get("invoices").catch(() => undefined)), "it is not declared");
  await duly.client.schedules.trigger("invoices", { period: "2026-01-01", payload });
  await first.hears("begun");
  const invoices = () => app.prepare("SELECT made_by FROM invoices").pluck().all();
  return { duly, first, file, invoices, id: "invoices@2026-01-01" };
}

test("a process that is stopped past its lease has lost it, its late write is refused and its report is kept as stale", async () => {
  const { duly, first, file, invoices, id } = await setup({ hold: true });
  first.process.kill("SIGSTOP");
  const second = Child.start(duly, file, "2s");
  await second.hears("effect");
  const done = await duly.state(id, "succeeded");
  // The stopped process may have been granted the second attempt too: its request for work was open.
  const outcomes = done.attempts.map((a) => a.outcome);
  expect(outcomes[0]).toBe("lost");
  expect(outcomes.filter((o) => o !== "lost")).toEqual(["succeeded"]);
  first.process.stdin?.write("go on\n");
  first.process.kill("SIGCONT");
  expect(await first.hears("refused")).toMatchObject({ code: "stale_token" });
  expect(invoices()).toEqual([second.process.pid]);
  const kept = await until(async () => (await duly.client.occurrences.get(id)).attempts[0]?.stale, "no stale report is kept");
  expect(kept.outcome).toBe("failed");
  expect((await duly.client.occurrences.get(id)).state).toBe("succeeded");
  expect(first.said.filter((s) => s.what === "begun")).toHaveLength(1); // what it was granted meanwhile is not begun late
});

test("a blocked event loop finds out that its lease has run out before it reports", async () => {
  const { duly, first, file, invoices, id } = await setup({ block: 5000 });
  const second = Child.start(duly, file, "2s");
  await second.hears("effect");
  expect(await first.hears("awake")).toMatchObject({ owned: false, why: "lease_lost" });
  expect(await first.hears("refused")).toMatchObject({ code: "stale_token" });
  expect(invoices()).toEqual([second.process.pid]);
  expect((await duly.state(id, "succeeded")).attempts.at(-1)?.outcome).toBe("succeeded");
});

test("a killed process is followed by another, and the effect stays one", async () => {
  const { duly, first, file, invoices, id } = await setup({ hold: true });
  first.process.kill("SIGKILL");
  const second = Child.start(duly, file, "2s");
  await second.hears("effect");
  expect((await duly.state(id, "succeeded")).attempts.map((a) => a.outcome)).toEqual(["lost", "succeeded"]);
  expect(invoices()).toEqual([second.process.pid]);
});

test("SIGTERM drains: what runs ends, nothing new begins, the process ends by itself", async () => {
  const { duly, first, invoices, id } = await setup({ hold: true });
  first.process.kill("SIGTERM");
  await duly.client.schedules.trigger("invoices");
  first.process.stdin?.write("go on\n");
  expect(await first.exited).toBe(0);
  expect(first.said.map((s) => s.what)).toEqual(["begun", "effect", "drained"]);
  expect(invoices()).toHaveLength(1);
  expect((await duly.client.occurrences.get(id)).state).toBe("succeeded");
  expect((await duly.client.nodes()).items.find((n) => n.name.startsWith("child-"))?.state).toBe("left");
});
