import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, openSync, readdirSync } from "node:fs";
import mysql from "mysql2/promise";
import pg from "pg";

export interface Server {
  /** The directory of PostgreSQL's socket, or MariaDB's socket. */
  socket: string;
  stop(): Promise<void>;
}

/** Both refuse to be root. */
function identity(user: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function find(program: string, places: string[]): string {
  for (const place of places) {
    const [base = "", tail] = place.split("/*/");
    const dirs = tail === undefined ? [base] : existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)).map((v) => `${base}/${v}/${tail}`) : [];
    for (const dir of dirs) if (existsSync(`${dir}/${program}`)) return `${dir}/${program}`;
  }
  return program; // of PATH, or an error that names it
}

/** A directory whose path is short, since that of a socket may have no more than some hundred bytes. */
function directory(as: { uid?: number; gid?: number }): string {
  const dir = mkdtempSync("/tmp/duly-");
  if (as.uid !== undefined) execFileSync("chown", [`${as.uid}:${as.gid}`, dir]);
  chmodSync(dir, 0o755);
  return dir;
}

/** Runs a server that ends, and leaves nothing behind, when this process does, however that ends. */
function guarded(dir: string, as: object, signal: string, command: string[]): Server["stop"] {
  const log = openSync(`${dir}.log`, "w");
  const script = `"$@" </dev/null & pid=$!; cat >/dev/null; kill -${signal} $pid; wait $pid; rm -rf "${dir}"`;
  const child: ChildProcess = spawn("sh", ["-c", script, "sh", ...command], { stdio: ["pipe", log, log], cwd: "/", detached: true, ...as });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return async () => {
    child.stdin?.end();
    await ended;
    execFileSync("rm", ["-rf", dir, `${dir}.log`]);
  };
}

async function answering(ask: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + 120_000; ; ) {
    try {
      await ask(); return;
    } catch (err) {
      if (Date.now() > deadline) throw err;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

export async function startPostgres(): Promise<Server> {
  const as = identity("postgres");
  const dir = directory(as);
  const initdb = find("initdb", ["/usr/lib/postgresql/*/bin", "/opt/homebrew/bin", "/usr/local/bin"]);
  execFileSync(initdb, ["-D", `${dir}/data`, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], { stdio: "pipe", cwd: "/", ...as });
  const stop = guarded(dir, as, "INT", [
    initdb.replace(/initdb$/, "postgres"), "-D", `${dir}/data`, "-c", "listen_addresses=", "-c", `unix_socket_directories=${dir}`,
    "-c", "max_connections=200", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
  ]);
  await answering(async () => {
    const client = new pg.Client({ host: dir, user: "postgres", database: "postgres" });
    await client.connect();
    await client.end();
  });
  return { socket: dir, stop };
}

export async function startMariaDB(): Promise<Server> {
  const as = identity("mysql");
  const dir = directory(as);
  const places = ["/usr/sbin", "/usr/bin", "/usr/libexec", "/opt/homebrew/opt/mariadb/bin", "/usr/local/opt/mariadb/bin"];
  execFileSync(find("mariadb-install-db", places), ["--no-defaults", `--datadir=${dir}/data`, "--auth-root-authentication-method=normal", "--skip-test-db"], { stdio: "pipe", cwd: "/", ...as });
  const socket = `${dir}/s`;
  const stop = guarded(dir, as, "TERM", [
    find("mariadbd", places), "--no-defaults", `--datadir=${dir}/data`, `--socket=${socket}`, `--pid-file=${dir}/pid`, "--skip-networking",
    "--skip-log-bin", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
  ]);
  await answering(async () => (await mysql.createConnection({ socketPath: socket, user: "root" })).end());
  return { socket, stop };
}
