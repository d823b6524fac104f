// Compiles the package of the working directory twice: ES modules, and CommonJS for those who require it.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const dir = `${process.cwd()}/`;
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(`${dir}dist`, { recursive: true, force: true });
for (const [project, type] of [["tsconfig.esm.json", "module"], ["tsconfig.cjs.json", "commonjs"]]) {
  execFileSync(process.execPath, [tsc, "-p", project], { cwd: dir, stdio: "inherit" });
  const out = `${dir}dist/${type === "module" ? "esm" : "cjs"}`;
  mkdirSync(out, { recursive: true });
  writeFileSync(`${out}/package.json`, JSON.stringify({ type, sideEffects: false }) + "\n");
}
copyFileSync(`${dir}../../LICENSE`, `${dir}LICENSE`);
