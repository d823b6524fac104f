// Does the same to three processes each of several schedulers, and counts. The report
// goes to stdout, as the table of README.md. An argument picks schedulers by name:
// node dist/compare/measure.js cron duly
import { mkdtempSync, rmSync } from "node:fs";
import { Postgres } from "../stage/postgres.js";
import { freePort, Program } from "../stage/process.js";
import { here } from "../stage/stage.js";
import { until } from "../stage/until.js";

const kinds: Record<string, string> = {
  cron: "`@nestjs/schedule`",
  bullmq: "BullMQ job scheduler",
  duly: "Duly, handler as with the others",
  "duly-once": "Duly, `effects.perform`",
};

type Fault = (owner: Program, coordinator: Program | undefined) => Promise<void>;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const faults: Record<string, Fault> = {
  "none": async () => undefined,
  "`kill -9` after an invoice": (owner) => owner.stop("SIGKILL"),
  "`SIGSTOP` for 9 s": async (owner) => {
    owner.signal("SIGSTOP");
    await pause(9000);
    owner.signal("SIGCONT");
  },
  "event loop blocked for 9 s": async (owner) => owner.signal("SIGUSR2"),
  "coordinator killed, back after 2 s": async (_, coordinator) => {
    await coordinator?.stop("SIGKILL");
    await pause(2000);
    coordinator?.start();
  },
};

/** How long is counted after the first invoice: leases and locks are 3 s. */
const watched = 20_000;

interface Counted {
  starts: number;
  invoices: number;
  customers: number;
  /** When the last customer had its first invoice, in s after the first of all. */
  complete: number | null;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1)); // which ends what was started

const dir = mkdtempSync("/tmp/duly-compare-");
const postgres = new Postgres();
await postgres.up();
await postgres.query("postgres", "CREATE TABLE starts (trial text, node text, at timestamptz DEFAULT now())");
await postgres.query("postgres", "CREATE TABLE invoices (trial text, customer int, made_by text, at timestamptz DEFAULT now())");
const port = await freePort();
const redis = new Program("redis-server", ["--port", "0", "--unixsocket", `${dir}/redis`, "--dir", dir, "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"]);
const duly = new Program(`${process.env["DULY_TEST_BIN"] ?? `${here}bin`}/duly`, ["serve", "--store", `sqlite:${dir}/duly.db`, "--listen", `127.0.0.1:${port}`, "--log", "text"]);
redis.start();
duly.start();
await until(() => fetch(`http://127.0.0.1:${port}/readyz`).then((r) => r.ok || undefined, () => undefined), () => duly.output);

async function trial(kind: string, name: string, fault: Fault): Promise<Counted> {
  const due = new Date(Date.now() + 15_000);
  const env = {
    KIND: kind, TRIAL: name, CRON: `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()} * * *`, REDIS: `${dir}/redis`,
    DULY_SERVER: `http://127.0.0.1:${port}`, PGHOST: postgres.dir, PGUSER: "postgres", PGDATABASE: "postgres",
  };
  const nodes = new Map(["a", "b", "c"].map((id) => [id, new Program(process.execPath, [`${here}dist/compare/node.js`], { ...env, NODE_NAME: id })]));
  try {
    for (const node of nodes.values()) node.start();
    for (const node of nodes.values()) await until(() => (node.output.includes("ready\n") ? true : undefined), () => node.output, 30_000);
    if (Date.now() > due.getTime()) throw new Error("the processes took too long to start; try again on a machine with less to do");
    const [first] = await until(async () => {
      const rows = await postgres.query<{ made_by: string }>("postgres", "SELECT made_by FROM invoices WHERE trial = $1 ORDER BY at LIMIT 1", [name]);
      return rows.length > 0 ? rows : undefined;
    }, () => [...nodes.values()].map((n) => n.output).join("\n"));
    const owner = nodes.get(first?.made_by ?? "");
    if (owner !== undefined) await Promise.all([fault(owner, kind === "bullmq" ? redis : duly), pause(watched)]);
    const [counted] = await postgres.query<Counted>("postgres", `
      WITH firsts AS (SELECT customer, min(at) AS at FROM invoices WHERE trial = $1 GROUP BY customer)
      SELECT (SELECT count(*)::int FROM starts WHERE trial = $1) AS starts, (SELECT count(*)::int FROM invoices WHERE trial = $1) AS invoices,
        (SELECT count(*)::int FROM firsts) AS customers, (SELECT extract(epoch FROM max(at) - min(at))::float FROM firsts) AS complete`, [name]);
    if (counted === undefined) throw new Error("nothing was counted");
    return counted;
  } finally {
    await Promise.all([...nodes.values()].map((n) => n.stop("SIGKILL")));
  }
}

function cell({ starts, invoices, customers, complete }: Counted): string {
  const what = customers < 3 ? `**${3 - customers} missing**` : invoices > 3 ? `**${invoices} invoices**` : "3 invoices";
  return `${starts} started, ${what}${customers === 3 && complete !== null && complete > 2.5 ? `, after ${complete.toFixed(0)} s` : ""}`;
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(kinds);
const table = new Map<string, string[]>();
try {
  let n = 0;
  for (const kind of chosen) {
    for (const [what, fault] of Object.entries(faults)) {
      const without = kind === "cron" && what.startsWith("coordinator"); // it has none
      const text = without ? "–" : cell(await trial(kind, `t${++n}-${kind}`, fault));
      process.stderr.write(`${kind}: ${what}: ${text}\n`);
      table.set(what, [...(table.get(what) ?? []), text]);
    }
  }
} finally {
  await Promise.all([redis.stop("SIGKILL"), duly.stop("SIGKILL")]);
  await postgres.close();
  rmSync(dir, { recursive: true, force: true });
}
process.stdout.write(`| fault | ${chosen.map((k) => kinds[k] ?? k).join(" | ")} |\n|---|${chosen.map(() => "---|").join("")}\n`);
for (const [what, cells] of table) process.stdout.write(`| ${what} | ${cells.join(" | ")} |\n`);
