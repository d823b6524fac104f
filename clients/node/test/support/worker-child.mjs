// A program with a worker, as applications write it: compiled, in a process of
// its own. What it says, one JSON object a line, is what the tests look at.
import Database from "better-sqlite3";
import { Client } from "@duly/client";
import { sqlite } from "@duly/client/better-sqlite3";

const { url, file, lease } = JSON.parse(process.argv[2]);
const say = (what, more = {}) => process.stdout.write(`${JSON.stringify({ what, ...more })}\n`);
const ledger = sqlite(new Database(file, { timeout: 10_000 }));

const worker = new Client({ url }).worker({ name: `child-${process.pid}`, signals: ["SIGTERM"], drainTime: "10s", logger: { debug() {}, info() {}, warn() {}, error: say } });
worker.schedule({ id: "invoices", cron: "0 0 1 1 *", period: "day", lease, retry: { backoff: "1ms", max_backoff: "1ms" } }, async (occ) => {
  say("begun", { attempt: occ.attempt });
  const { block, hold } = occ.payload ?? {};
  if (block && occ.attempt === 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block); // the event loop stands still
    say("awake", { owned: occ.owned, why: occ.signal.reason?.why });
  }
  if (hold && occ.attempt === 1) await new Promise((resolve) => process.stdin.once("data", resolve));
  try {
    const { reused } = await occ.effects.perform(ledger, `invoice/${occ.period}`, (db) => {
      db.prepare("INSERT INTO invoices (made_by) VALUES (?)").run(process.pid);
      return "sent";
    });
    say("effect", { reused });
  } catch (err) {
    say("refused", { code: err.code });
    throw err;
  }
});
await worker.run();
say("drained");
process.stdin.destroy();
