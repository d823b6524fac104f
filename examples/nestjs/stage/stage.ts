import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type api, Client } from "@duly/client";
import { Postgres } from "./postgres.js";
import { freePort, Program } from "./process.js";
import { until } from "./until.js";

/** Where this example lies, whether its TypeScript is read or what was made of it. */
export const here = fileURLToPath(new URL(import.meta.url.includes("/dist/") ? "../../" : "../", import.meta.url));

/** An application's process. */
export interface AppNode {
  name: string;
  port: number;
  program: Program;
}

export interface Invoiced {
  customer_id: number;
  made_by: string;
}

/** PostgreSQL, a server of Duly and some processes of the application: all real. */
export class Stage {
  readonly nodes = new Map<string, AppNode>();

  private constructor(
    private readonly app: string,
    readonly postgres: Postgres,
    readonly duly: Program,
    readonly url: string,
    private readonly env: Record<string, string>,
  ) {}

  /** `app` is the directory of the compiled application. */
  static async open(app: string, env: Record<string, string> = {}): Promise<Stage> {
    const postgres = new Postgres();
    await postgres.up();
    for (const name of ["duly", "billing"]) await postgres.query("postgres", `CREATE DATABASE ${name}`);
    const port = await freePort();
    const bin = process.env["DULY_TEST_BIN"] ?? `${here}bin`;
    const duly = new Program(`${bin}/duly`, ["serve", "--store", `postgres://postgres@/duly?host=${postgres.dir}`, "--listen", `127.0.0.1:${port}`, "--log", "text"]);
    const url = `http://127.0.0.1:${port}`;
    const stage = new Stage(app, postgres, duly, url, { DULY_SERVER: url, PGHOST: postgres.dir, PGUSER: "postgres", PGDATABASE: "billing", FAULTS: "1", ...env });
    execFileSync(process.execPath, [`${app}/prepare.js`], { env: { ...process.env, ...stage.env }, stdio: "inherit" });
    await stage.serve();
    return stage;
  }

  get client(): Client {
    return new Client({ url: this.url });
  }

  /** Starts Duly's server. */
  async serve(): Promise<void> {
    this.duly.start();
    await until(() => fetch(`${this.url}/readyz`).then((r) => r.ok || undefined, () => undefined), () => `duly serve: ${this.duly.output}`);
  }

  /** Starts a process of the application, for the first time or anew; it takes part when this is settled. */
  async start(name: string, more: Record<string, string> = {}): Promise<AppNode> {
    const known = this.nodes.get(name);
    const port = known?.port ?? (await freePort());
    const program = known?.program ?? new Program(process.execPath, [`${this.app}/main.js`], { ...this.env, NODE_NAME: name, PORT: String(port) });
    const node = { name, port, program };
    this.nodes.set(name, node);
    program.start(more);
    await until(() => fetch(`http://127.0.0.1:${port}/health`).then((r) => r.ok || undefined, () => undefined), () => `${name}: ${program.output}`);
    return node;
  }

  node(name: string): AppNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }

  invoices(day: string): Promise<Invoiced[]> {
    return this.postgres.query("billing", "SELECT customer_id, made_by FROM invoices WHERE day = $1 ORDER BY customer_id, number", [day]);
  }

  /** Who has made the first invoice of the day, as soon as there is one. */
  async inTheMiddle(day: string): Promise<AppNode> {
    const [first] = await until(async () => {
      const rows = await this.invoices(day);
      return rows.length > 0 ? rows : undefined;
    }, () => `no invoice for ${day}: ${[...this.nodes.values()].map((n) => n.program.output.slice(-2000)).join("\n")}`);
    return this.node(first?.made_by ?? "");
  }

  /** The occurrence, once it has succeeded. */
  done(day: string): Promise<api.Occurrence> {
    let last: api.Occurrence | undefined;
    return until(async () => {
      last = await this.client.occurrences.get(`invoices@${day}`).catch(() => undefined);
      return last?.state === "succeeded" ? last : undefined;
    }, () => `invoices@${day} has not succeeded: ${JSON.stringify(last)}`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.nodes.values()].map(({ program }) => program.stop("SIGKILL")));
    await this.duly.stop("SIGKILL");
    await this.postgres.close();
  }
}
