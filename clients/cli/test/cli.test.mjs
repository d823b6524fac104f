// The command as npm installs it: nothing here knows of the tree it was built from.
import assert from "node:assert/strict";
import { chmodSync, renameSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { described, pack, pidsOf, Project, version } from "./support.mjs";

const platform = `@duly/cli-${process.platform}-${process.arch}`;
let tarballs;
let project;

before(() => {
  tarballs = pack("cli");
  project = new Project(...tarballs.files);
  project.write("no-execve.cjs", "delete process.execve;\n");
  project.write("duly.yaml", "schedules:\n  hello:\n    every: 24h\n    target: { exec: { command: [echo, hello] } }\n");
});

after(() => {
  project?.remove();
  tarballs?.remove();
});

const npx = (...args) => project.run("npx", ["--offline", "duly", ...args]);

const limit = { timeout: 300_000 };

describe("npx duly", limit, () => {
  test("says the version that the package has", async () => {
    const { code, out } = await npx("version", "-o", "json");
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).version, described);
    assert.equal((await project.run("npm", ["ls", "--json", "@duly/cli"])).out.includes(version), true);
  });

  test("passes arguments with blanks and stars unchanged, and prints what duly prints", async () => {
    const { code, out } = await npx("next", "0 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-11-29T00:00:00Z", "-n", "2", "-o", "json");
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out).items.map((item) => item.due), ["2026-11-29T01:00:00Z", "2026-11-30T01:00:00Z"]);
  });

  test("ends with duly's exit code", async () => {
    const { code, err } = await npx("nonsense");
    assert.equal(code, 2);
    assert.match(err, /nonsense/);
  });

  test("passes SIGTERM on to the server, which drains", async () => {
    const { child, end, address } = await project.serve("npx", ["--offline", "duly"]);
    child.kill("SIGTERM");
    // npx itself may be gone before; the end of the output is the server's.
    assert.match((await end).err, /nothing is running here any more/);
    await assert.rejects(fetch(`${address}/readyz`));
  });
});

// The start script's two ways. A Node.js that cannot become another program has
// the second one only.
const ways = [["which stays as the parent", { NODE_OPTIONS: "--require ./no-execve.cjs" }]];
if (typeof process.execve === "function") ways.push(["which becomes the binary", {}]);

for (const [way, env] of ways) {
  describe(`The start script, ${way},`, limit, () => {
    const duly = () => join(project.dir, "node_modules/.bin/duly");
    const binary = () => join(project.dir, "node_modules", platform, "bin/duly");

    test("passes on input, output and a command's exit code", async () => {
      const { code, out } = await project.run(duly(), ["lock", "some-name", "--", "sh", "-c", "cat; exit 7"], { input: "what was said", env });
      assert.deepEqual([code, out], [7, "what was said"]);
    });

    for (const signal of ["SIGTERM", "SIGINT"]) {
      test(`lets the server drain at ${signal} and exit with 0`, async () => {
        const { child, end } = await project.serve(duly(), [], env);
        child.kill(signal);
        const { code, signal: by } = await end;
        assert.deepEqual([code, by], [0, null]);
        assert.deepEqual(pidsOf(binary()), []);
      });
    }

    test("ends as the server was ended; another goes on with the same store", async () => {
      const first = await project.serve(duly(), [], env);
      assert.equal((await project.run(duly(), ["apply", "-f", "duly.yaml", "--server", first.address], { env })).code, 0);
      const [pid] = pidsOf(binary());
      process.kill(pid, "SIGKILL");
      const { code, signal } = await first.end;
      assert.deepEqual([code, signal], [null, "SIGKILL"]);

      const second = await project.serve(duly(), [], env);
      const { items } = await (await fetch(`${second.address}/api/v1/schedules`)).json();
      assert.deepEqual(items.map((item) => item.id), ["hello"]);
      second.child.kill("SIGTERM");
      assert.equal((await second.end).code, 0);
    });

    test("is told apart from duly's own errors where the binary cannot be started", async () => {
      chmodSync(binary(), 0o644);
      const { code, err } = await project.run(duly(), ["version"], { env });
      chmodSync(binary(), 0o755);
      assert.equal(code, 126);
      assert.match(err, /duly cannot be started: EACCES/);
    });
  });
}

describe("Without the platform's package", limit, () => {
  const folder = (name) => join(project.dir, "node_modules", name);
  const hidden = () => join(project.dir, "hidden");

  test("the error names it and says how to install it", async () => {
    renameSync(folder(platform), hidden());
    const { code, err } = await project.run("npx", ["--offline", "duly", "version"]);
    renameSync(hidden(), folder(platform));
    assert.equal(code, 127);
    assert.match(err, /is not installed/);
    assert.ok(err.includes(`npm install ${platform}@${version}`), err);
  });

  test("the error names another platform's that is there", async () => {
    const other = platform === "@duly/cli-darwin-x64" ? "@duly/cli-linux-x64" : "@duly/cli-darwin-x64";
    renameSync(folder(platform), folder(other));
    const { code, err } = await project.run("npx", ["--offline", "duly", "version"]);
    renameSync(folder(other), folder(platform));
    assert.equal(code, 127);
    assert.ok(err.includes(`node_modules has ${other}, but this machine needs ${platform}`), err);
  });

  test("the error lists the platforms that there are, on one that has none", async () => {
    project.write("other.cjs", 'Object.defineProperty(process, "platform", { value: "sunos" });\n');
    const { code, err } = await project.run(join(project.dir, "node_modules/.bin/duly"), ["version"], { env: { NODE_OPTIONS: "--require ./other.cjs" } });
    assert.equal(code, 127);
    assert.match(err, /no binary of duly for sunos/);
    assert.match(err, /linux-x64, linux-arm64, darwin-x64, darwin-arm64, win32-x64/);
  });
});
