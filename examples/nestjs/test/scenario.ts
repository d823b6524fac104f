import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { api } from "@duly/client";
import { here, Stage } from "../stage/stage.js";
import { until } from "../stage/until.js";

const names = ["node-1", "node-2", "node-3"];

/** How long a lease lasts here. */
const lease = 3000;

/** A day before today, in the zone of the invoices: each trial has one of its own. */
function daysAgo(n: number): string {
  return new Date(Date.now() - n * 86_400_000).toISOString().slice(0, 10);
}

/** Three nodes, one invoice, whatever happens: with one major version of Nest. */
export function scenario(nest: string, app: string): void {
  describe(`three processes of Nest ${nest}`, () => {
    let stage: Stage;

    beforeAll(async () => {
      // The pace leaves time for a fault between the first invoice and the last.
      stage = await Stage.open(`${here}${app}`, { INVOICE_LEASE: `${lease}ms`, INVOICE_PACE: "1000" });
      await Promise.all(names.map((name) => stage.start(name)));
    });

    afterAll(async () => stage?.close());

    /** Has the invoices of a day made. */
    const bill = (day: string) => stage.client.schedules.trigger("invoices", { period: day });

    /** Each customer has one invoice of that day, and history accounts for each of them. */
    async function oneEach(day: string): Promise<api.Occurrence> {
      const done = await stage.done(day);
      expect((await stage.invoices(day)).map((i) => i.customer_id)).toEqual([1, 2, 3]);
      const last = done.attempts.at(-1);
      expect(last?.outcome).toBe("succeeded");
      expect((last?.effects?.created ?? 0) + (last?.effects?.reused ?? 0)).toBe(3);
      const { items } = await stage.client.occurrences.list({ schedule: "invoices" });
      expect(items.filter((o) => o.period === day).map((o) => o.id)).toEqual([`invoices@${day}`]);
      return done;
    }

    test("are one schedule, and make one invoice for each customer and day", async () => {
      expect((await stage.client.schedules.list()).items.map((s) => s.id)).toEqual(["invoices"]);
      await bill(daysAgo(2));
      const done = await oneEach(daysAgo(2));
      expect(done.attempts).toMatchObject([{ number: 1, outcome: "succeeded", effects: { created: 3 } }]);
    });

    test("kill -9 right after an invoice: another node goes on, and finds that invoice", async () => {
      const day = daysAgo(3);
      await bill(day);
      const owner = await stage.inTheMiddle(day);
      await owner.program.stop("SIGKILL");
      const done = await oneEach(day);
      expect(done.attempts.map((a) => a.outcome)).toEqual(["lost", "succeeded"]);
      expect(done.attempts[0]?.node).toBe(owner.name);
      expect(done.attempts[1]?.node).not.toBe(owner.name);
      expect(done.attempts[1]?.effects?.reused).toBeGreaterThan(0);
      await stage.start(owner.name);
    });

    test("SIGSTOP past the lease: another node takes over, and what the stopped one still writes is refused", async () => {
      const day = daysAgo(4);
      await bill(day);
      const owner = await stage.inTheMiddle(day);
      owner.program.signal("SIGSTOP");
      await oneEach(day);
      owner.program.signal("SIGCONT");
      const first = await until(async () => {
        const [attempt] = (await stage.client.occurrences.get(`invoices@${day}`)).attempts;
        return attempt?.stale && attempt;
      }, () => `nothing is told of the attempt that came back: ${owner.program.output.slice(-3000)}`);
      expect(first).toMatchObject({ outcome: "lost", node: owner.name });
      expect((await oneEach(day)).state).toBe("succeeded");
    });

    test("an event loop that is blocked past the lease: another node takes over, and the late writes are refused", async () => {
      const day = daysAgo(5);
      await bill(day);
      const owner = await stage.inTheMiddle(day);
      await fetch(`http://127.0.0.1:${owner.port}/faults/block?ms=${4 * lease}`, { method: "POST" });
      const done = await oneEach(day);
      expect(done.attempts[0]).toMatchObject({ outcome: "lost", node: owner.name });
      await until(async () => (await stage.client.occurrences.get(`invoices@${day}`)).attempts[0]?.stale, "nothing is told of the attempt that came back");
      await oneEach(day);
    });

    test("Duly's server is killed and started again: what runs goes on, and is reported when it is there", async () => {
      const day = daysAgo(6);
      await bill(day);
      await stage.inTheMiddle(day);
      await stage.duly.stop("SIGKILL");
      await until(async () => ((await stage.invoices(day)).length === 3 ? true : undefined), "the work does not go on without the server", 30_000);
      await stage.serve();
      await oneEach(day);
    });

    test("PostgreSQL is gone for longer than the lease, Duly's store and the application's tables with it: nothing is lost or doubled", async () => {
      const day = daysAgo(7);
      await bill(day);
      await stage.inTheMiddle(day);
      await stage.postgres.down();
      await setTimeout(2 * lease); // the work meets it, and so does everybody's lease
      await stage.postgres.up();
      const done = await oneEach(day);
      expect(done.attempts.length).toBeGreaterThan(1);
      expect(done.attempts.length).toBeLessThan(6);
    });

    test("a rolling deployment with another time: the day is invoiced once, and an old node that restarts in the middle does not bring the old time back", async () => {
      const due = new Date(Date.now() + 60_000);
      const cron = `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${localHour(due)} * * *`;
      const day = due.toLocaleDateString("sv", { timeZone: "Europe/Berlin" });
      const [first = "", second = "", third = ""] = names;
      const replace = async (name: string, env: Record<string, string> = {}) => {
        await stage.node(name).program.stop("SIGTERM");
        await stage.start(name, env);
      };
      await replace(first, { INVOICE_CRON: cron });
      await replace(third); // still of the old version
      const inForce = async () => (await stage.client.schedules.get("invoices")).cron;
      expect(await inForce()).toBe(cron);
      await replace(second, { INVOICE_CRON: cron });
      await replace(third, { INVOICE_CRON: cron });
      expect(await inForce()).toBe(cron);
      expect(await stage.invoices(day)).toEqual([]);
      const done = await oneEach(day);
      expect(done).toMatchObject({ origin: "schedule", attempts: [{ number: 1, outcome: "succeeded" }] });
      expect(new Date(done.due).getTime()).toBe(Math.floor(due.getTime() / 1000) * 1000);
    });
  });
}

function localHour(at: Date): string {
  return String(Number(at.toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit" })));
}
