// Writes what is generated: the API's types, and the ledger's DDL. With --check
// it writes nothing and fails where a file is not what it should be.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const root = new URL("../../../", import.meta.url);
const out = new URL("../src/generated/", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");

const head = (from) => `// Generated from ${from} by "make generate". Do not edit.\n\n`;

const api = astToString(
  await openapiTS(JSON.parse(read("api/openapi.json")), { rootTypes: true, rootTypesNoSchemaPrefix: true }),
);
const ddl = ["postgres", "mysql", "sqlite"]
  .map((dialect) => `  ${dialect}: ${JSON.stringify(read(`effect/ddl/${dialect}.sql`))},\n`)
  .join("");

const files = {
  "api.ts": head("api/openapi.json") + api,
  "ddl.ts": head("effect/ddl") + `export const ddl = {\n${ddl}} as const;\n`,
};

let stale = 0;
for (const [name, text] of Object.entries(files)) {
  const path = new URL(name, out);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
    continue;
  }
  if (readFileSync(path, "utf8") === text) continue;
  console.error(`src/generated/${name} is stale: run "make generate"`);
  stale++;
}
process.exit(stale > 0 ? 1 : 0);
