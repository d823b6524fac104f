// An empty project into which the tarballs are installed as a user would, from
// nothing but the tarballs.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const clients = fileURLToPath(new URL("../../", import.meta.url));

export const described = "v1.2.3-4-g0a1b2c3";
export const version = "1.2.4-dev.4.g0a1b2c3";

function temporary() {
  return mkdtempSync(join(tmpdir(), "duly-npm-test-"));
}

// pack makes the tarballs of the command or of the libraries, for this machine.
export function pack(what) {
  const out = temporary();
  execFileSync(process.execPath, [join(clients, "cli/scripts/pack.mjs"), "--describe", described, "--out", out, "--host", what], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    files: readdirSync(out).map((name) => join(out, name)),
    remove: () => rmSync(out, { recursive: true, force: true }),
  };
}

export class Project {
  constructor(...tarballs) {
    this.dir = temporary();
    this.write("package.json", JSON.stringify({ name: "project", version: "1.0.0", private: true }));
    // An empty cache and no network: what is not in the tarballs cannot be had.
    execFileSync("npm", ["install", "--offline", "--cache", join(this.dir, ".npm"), "--no-audit", "--no-fund", "--legacy-peer-deps", ...tarballs], { cwd: this.dir, stdio: "pipe" });
  }

  write(name, text) {
    writeFileSync(join(this.dir, name), text);
  }

  // borrow makes packages of a workspace the project's own, instead of fetching them.
  borrow(workspace, ...names) {
    for (const name of names) {
      const from = [workspace, "."].map((folder) => join(clients, folder, "node_modules", name)).find(existsSync);
      if (from === undefined) throw new Error(`${name} is not installed: npm ci in clients`);
      const link = join(this.dir, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(from, link);
    }
  }

  // run ends well or badly, and says how.
  run(command, args, { input, env } = {}) {
    const child = spawn(command, args, { cwd: this.dir, env: { ...process.env, ...env }, stdio: "pipe" });
    child.stdin.end(input ?? "");
    return ended(child);
  }

  // serve starts a server and waits until it answers.
  async serve(command, args, env) {
    const child = spawn(command, [...args, "serve", "--listen", "127.0.0.1:0", "--log", "json"], { cwd: this.dir, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const end = ended(child);
    let gone = false;
    end.then(() => { gone = true; });
    let said = "";
    const address = await new Promise((resolve, reject) => {
      child.stderr.on("data", (chunk) => {
        said += chunk;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found) resolve(found[0]);
      });
      end.then(({ err }) => reject(new Error(`the server ended: ${err}`)));
    });
    while (!gone && !(await fetch(`${address}/readyz`).catch(() => undefined))?.ok) await pause(50);
    return { child, end, address };
  }

  remove() {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function ended(child) {
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => { out += chunk; });
  child.stderr.on("data", (chunk) => { err += chunk; });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}

// pidsOf finds the processes that run a program below a folder.
export function pidsOf(dir) {
  const list = execFileSync("ps", ["-axo", "pid=,args="], { encoding: "utf8" });
  return list.split("\n").filter((line) => line.trim().replace(/^\d+\s+/, "").startsWith(dir)).map((line) => Number.parseInt(line, 10));
}
