// Compiles the package of the working directory twice: ES modules, and CommonJS for those who require it.
import { execFileSync } from "node:child_process";
import { copyFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const dir = `${process.cwd()}/`;
const fresh = `${dir}dist-${process.pid}`; // whoever uses the last build meanwhile goes on with it
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

try {
  for (const [name, type] of [["esm", "module"], ["cjs", "commonjs"]]) {
    const out = `${fresh}/${name}`;
    execFileSync(process.execPath, [tsc, "-p", `tsconfig.${name}.json`, "--outDir", out], { cwd: dir, stdio: "inherit" });
    writeFileSync(`${out}/package.json`, JSON.stringify({ type, sideEffects: false }) + "\n");
  }
  rmSync(`${dir}dist`, { recursive: true, force: true });
  renameSync(fresh, `${dir}dist`);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
copyFileSync(`${dir}../../LICENSE`, `${dir}LICENSE`);
