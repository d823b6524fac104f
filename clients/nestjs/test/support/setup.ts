// Before all tests: the real server is built, and the other major version of Nest installed.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    bin: string;
  }
}

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const nest11 = fileURLToPath(new URL("../../nest11/", import.meta.url));

let bin: string | undefined;

export default function setup(project: TestProject): () => void {
  const given = process.env["DULY_TEST_BIN"];
  const [lock, installed] = [`${nest11}package-lock.json`, `${nest11}node_modules/.package-lock.json`];
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) execFileSync("npm", ["ci"], { cwd: nest11, stdio: "inherit" });
  if (bin === undefined && given === undefined) {
    bin = mkdtempSync("/tmp/duly-bin-");
    execFileSync("go", ["build", "-o", `${bin}/duly`, "./cmd/duly"], { cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
  }
  project.provide("bin", given ?? bin ?? "");
  return () => {
    if (bin !== undefined) rmSync(bin, { recursive: true, force: true });
    bin = undefined;
  };
}
