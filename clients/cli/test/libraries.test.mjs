// @duly/client and @duly/nestjs as npm installs them: what is missing from a
// package, or wrong in its exports, shows here and nowhere in the tree.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { clients, pack, Project } from "./support.mjs";

let tarballs;
let project;

before(() => {
  tarballs = pack("libraries");
  project = new Project(...tarballs.files);
  project.borrow("nestjs", "@nestjs/common", "@nestjs/core", "reflect-metadata", "rxjs", "@types/node");
});

after(() => {
  project?.remove();
  tarballs?.remove();
});

const entries = {
  "@duly/client": ["Client", "Worker", "once", "external", "permanent", "retryAfter"],
  "@duly/client/fence": ["sqlFence", "checkFence", "expressFence", "fastifyFence"],
  "@duly/client/pg": ["pg"],
  "@duly/nestjs": ["DulyModule", "Scheduled", "Duly", "DulyHealthIndicator"],
};

const shows = (name) => entries[name].map((symbol) => `["${name}", "${symbol}", typeof m["${symbol}"]]`).join(", ");

for (const [kind, file, load] of [
  ["ES modules", "load.mjs", (name) => `await import("${name}")`],
  ["CommonJS", "load.cjs", (name) => `require("${name}")`],
]) {
  test(`Both are loaded by ${kind}`, async () => {
    project.write(file, Object.keys(entries).map((name) => `{ const m = ${load(name)}; console.log(JSON.stringify([${shows(name)}])); }`).join("\n"));
    const { code, out, err } = await project.run(process.execPath, [file]);
    assert.equal(code, 0, err);
    const found = out.trim().split("\n").flatMap((line) => JSON.parse(line));
    assert.equal(found.length, Object.values(entries).flat().length);
    assert.deepEqual(found.filter(([, , type]) => type !== "function"), []);
  });
}

const program = `
import { Client, permanent, type Occurrence, type api } from "@duly/client";
import { pg } from "@duly/client/pg";
import { DulyModule, Scheduled } from "@duly/nestjs";
import { Module } from "@nestjs/common";

const schedule: api.Schedule = { id: "invoices", cron: "0 0 * * *" };
const worker = new Client({ url: "http://127.0.0.1:4747" }).worker({ app: "billing" });
worker.handle("invoices", async (occ: Occurrence) => {
  const attempt: number = occ.attempt;
  if (attempt > 3) throw permanent(new Error(schedule.id));
});
export const open = pg;

export class Invoices {
  @Scheduled("0 0 * * *", { name: "invoices", timeZone: "Europe/Berlin" })
  async send(occ: Occurrence): Promise<void> {
    // @ts-expect-error there is no such field, and types are really there
    void occ.nonsense;
  }
}

@Module({ imports: [DulyModule.forRoot({ url: "http://127.0.0.1:4747" })], providers: [Invoices] })
export class AppModule {}
`;

for (const [kind, file, options] of [
  ["ES modules", "check.mts", ["--module", "nodenext"]],
  ["CommonJS", "check.cts", ["--module", "nodenext"]],
  ["a bundler", "check.ts", ["--module", "esnext", "--moduleResolution", "bundler"]],
]) {
  test(`A strict compiler accepts a program for ${kind}`, () => {
    project.write(file, program);
    const tsc = join(clients, "node_modules/typescript/bin/tsc");
    try {
      execFileSync(process.execPath, [tsc, "--noEmit", "--strict", "--target", "es2022", "--experimentalDecorators", "--emitDecoratorMetadata", "--types", "node", ...options, file], { cwd: project.dir, encoding: "utf8" });
    } catch (err) {
      assert.fail(err.stdout);
    }
  });
}
