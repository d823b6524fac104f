// Builds Duly, its packages for Node.js and this example, for both major versions of Nest.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../", import.meta.url));
const root = `${here}../../`;
const run = (cwd, command, ...args) => execFileSync(command, args, { cwd, stdio: "inherit" });

/** Installs what the lock file says, where that has not been done. */
function install(dir) {
  const [lock, done] = [`${dir}package-lock.json`, `${dir}node_modules/.package-lock.json`];
  if (!existsSync(done) || statSync(done).mtimeMs < statSync(lock).mtimeMs) run(dir, "npm", "ci");
}

if (process.env.DULY_TEST_BIN === undefined) execFileSync("go", ["build", "-o", `${here}bin/duly`, "./cmd/duly"], { cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
install(`${root}clients/`);
for (const name of ["node", "nestjs"]) run(`${root}clients/${name}`, "npm", "run", "build", "--silent");
for (const dir of [here, `${here}nest11/`]) {
  install(dir);
  // The packages as they are now, and not as they were when they were installed.
  for (const [name, from] of [["client", "node"], ["nestjs", "nestjs"]]) {
    const to = `${dir}node_modules/@duly/${name}`;
    rmSync(`${to}/dist`, { recursive: true, force: true });
    cpSync(`${root}clients/${from}/package.json`, `${to}/package.json`);
    cpSync(`${root}clients/${from}/dist`, `${to}/dist`, { recursive: true });
  }
}
const tsc = `${here}node_modules/typescript/bin/tsc`;
for (const dir of ["dist", "nest11/dist", "nest11/src"]) rmSync(`${here}${dir}`, { recursive: true, force: true });
cpSync(`${here}src`, `${here}nest11/src`, { recursive: true }); // so that its imports find its own packages
run(here, process.execPath, tsc, "-p", "tsconfig.build.json");
run(here, process.execPath, tsc, "-p", "nest11/tsconfig.json");
