// Before all tests: the real server, the Go side of the ledger, and throw-away
// databases are built and started.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { type Server, startMariaDB, startPostgres } from "./databases.js";

declare module "vitest" {
  interface ProvidedContext {
    bin: string;
    postgres: string;
    mysql: string;
  }
}

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const node = fileURLToPath(new URL("../../", import.meta.url));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // DULY_TEST_BIN names a folder with both programs, for those who have just built them.
  const given = process.env["DULY_TEST_BIN"];
  const bin = given ?? mkdtempSync("/tmp/duly-bin-");
  if (given === undefined) for (const [name, path] of [["duly", "./cmd/duly"], ["interop", "./clients/node/testdata/interop"]] as const) {
    execFileSync("go", ["build", "-o", `${bin}/${name}`, path], { cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
  }
  if (!existsSync(`${node}node_modules/.duly-prisma`)) {
    // The client is made by a generator that downloads an engine which it does not use.
    execFileSync("npx", ["prisma", "generate", "--schema", "test/prisma/schema.prisma"], {
      cwd: node, stdio: "pipe", env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" },
    });
  }
  const servers: Server[] = await Promise.all([startPostgres(), startMariaDB()]);
  project.provide("bin", bin);
  project.provide("postgres", servers[0]?.socket ?? "");
  project.provide("mysql", servers[1]?.socket ?? "");
  return async () => {
    await Promise.all(servers.map((s) => s.stop()));
    if (given === undefined) rmSync(bin, { recursive: true, force: true });
  };
}
