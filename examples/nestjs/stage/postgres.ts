import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import pg from "pg";
import { until } from "./until.js";

/** A PostgreSQL server of our own, that can be taken down and up again. It ends when this process does, however that ends. */
export class Postgres {
  /** The directory of its data and its socket. */
  readonly dir: string;
  private readonly as = identity("postgres");
  private readonly bin = programs();
  private process: ChildProcess | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  constructor() {
    this.dir = mkdtempSync("/tmp/duly-pg-"); // short, since the path of a socket may have no more than some hundred bytes
    if (this.as.uid !== undefined) execFileSync("chown", [`${this.as.uid}:${this.as.gid}`, this.dir]);
    chmodSync(this.dir, 0o755);
    execFileSync(`${this.bin}initdb`, ["-D", `${this.dir}/data`, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], { stdio: "pipe", cwd: "/", ...this.as });
  }

  async up(): Promise<void> {
    const log = openSync(`${this.dir}/log`, "a");
    if (this.as.uid !== undefined) execFileSync("chown", [`${this.as.uid}:${this.as.gid}`, `${this.dir}/log`]);
    const command = [`${this.bin}postgres`, "-D", `${this.dir}/data`, "-c", "listen_addresses=", "-c", `unix_socket_directories=${this.dir}`, "-c", "fsync=off"];
    // The shell outlives a killed parent for as long as it takes to stop the server.
    const script = '"$@" </dev/null & pid=$!; cat >/dev/null; kill -INT $pid; wait $pid';
    this.process = spawn("sh", ["-c", script, "sh", ...command], { stdio: ["pipe", log, log], cwd: "/", detached: true, ...this.as });
    this.ended = new Promise((resolve) => this.process?.once("exit", resolve));
    await until(() => this.query("postgres", "SELECT 1").then((rows) => rows, () => undefined), "PostgreSQL does not answer");
  }

  /** Ends its connections and the server. */
  async down(): Promise<void> {
    this.process?.stdin?.end();
    await this.ended;
  }

  async close(): Promise<void> {
    await this.down();
    rmSync(this.dir, { recursive: true, force: true });
  }

  async query<T>(database: string, sql: string, params: unknown[] = []): Promise<T[]> {
    const client = new pg.Client({ host: this.dir, user: "postgres", database });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query(sql, params)).rows as T[];
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** The server refuses to be root. */
function identity(user: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** Distributions keep the server's programs off PATH. */
function programs(): string {
  const base = "/usr/lib/postgresql";
  const newest = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const dirs = [process.env["DULY_TEST_POSTGRES_BIN"] ?? "", ...newest.map((v) => `${base}/${v}/bin`), "/opt/homebrew/bin", "/usr/local/bin"];
  const dir = dirs.find((d) => d !== "" && existsSync(`${d}/initdb`));
  return dir === undefined ? "" : `${dir}/`;
}
