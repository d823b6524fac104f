// Makes the tarballs that are published to npm: the duly binary, one package a
// platform; @duly/cli, which chooses among them; and the two libraries. All have
// one version. Packages are put together in a temporary folder, so that nothing
// in the tree changes.
//
//   node scripts/pack.mjs --describe v1.2.3 --out DIR [--host] [cli] [libraries]
//
// --describe is what git describe says; --host compiles for this machine alone;
// without names, both the command and the libraries are packed.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isHost, packageOf, platforms } from "./platforms.mjs";
import { npmVersion } from "./version.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const clients = join(root, "clients");

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { describe: { type: "string" }, out: { type: "string" }, host: { type: "boolean", default: false } },
});
if (!flags.describe || !flags.out) throw new Error("usage: pack.mjs --describe VERSION --out DIR [--host]");

const version = npmVersion(flags.describe);
const out = resolve(flags.out);
const stage = mkdtempSync(join(tmpdir(), "duly-npm-"));

const wants = (name) => only.length === 0 || only.includes(name);

const readPackage = (dir) => JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));

// pack writes one tarball from a folder of the stage. Scripts and what only
// developers need stay behind.
function pack(dir, { scripts: _scripts, devDependencies: _devDependencies, ...manifest }) {
  writeFileSync(join(dir, "package.json"), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(dir, "LICENSE"));
  const [{ filename, size, unpackedSize }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", out], { cwd: dir, encoding: "utf8", shell: process.platform === "win32" }),
  );
  const kB = (bytes) => `${Math.ceil(bytes / 1000).toLocaleString("en")} kB`;
  console.log(`${basename(filename)}  ${kB(size)}, ${kB(unpackedSize)} unpacked`);
}

function compile({ goos, goarch }, file) {
  const ldflags = `-s -w -X github.com/duly-dev/duly.Version=${flags.describe}`;
  execFileSync(process.env.GO ?? "go", ["build", "-trimpath", "-ldflags", ldflags, "-o", file, "./cmd/duly"], {
    cwd: root, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0", GOOS: goos, GOARCH: goarch },
  });
}

function packPlatform(platform, cli) {
  const { os, cpu } = platform;
  const name = packageOf(platform);
  const dir = join(stage, `${os}-${cpu}`);
  mkdirSync(join(dir, "bin"), { recursive: true });
  compile(platform, join(dir, "bin", os === "win32" ? "duly.exe" : "duly"));
  writeFileSync(join(dir, "README.md"), `# ${name}\n\nThe duly binary for ${os} on ${cpu}. Install \`@duly/cli\`, which needs it.\n`);
  const { license, repository, engines } = cli;
  pack(dir, {
    name, description: `The duly binary for ${os} on ${cpu}`, license, repository, engines,
    os: [os], cpu: [cpu], files: ["bin"],
    preferUnplugged: true, // a binary cannot be started inside an archive
  });
}

function packCli(cli) {
  const dir = join(stage, "cli");
  cpSync(join(clients, "cli"), dir, { recursive: true });
  // Only here, and not in the tree: npm would look for versions that are not published yet.
  const optionalDependencies = Object.fromEntries(platforms.map((p) => [packageOf(p), version]));
  pack(dir, { ...cli, optionalDependencies });
}

function packLibrary(folder) {
  const source = join(clients, folder);
  const manifest = readPackage(source);
  execFileSync("npm", ["run", "--silent", "build"], { cwd: source, stdio: "inherit", shell: process.platform === "win32" });
  const dir = join(stage, folder);
  mkdirSync(dir);
  for (const name of manifest.files) {
    if (existsSync(join(source, name))) cpSync(join(source, name), join(dir, name), { recursive: true });
  }
  const { peerDependencies } = manifest;
  if (peerDependencies?.["@duly/client"]) peerDependencies["@duly/client"] = `^${version}`;
  pack(dir, manifest);
}

try {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  if (wants("libraries")) {
    packLibrary("node");
    packLibrary("nestjs");
  }
  if (wants("cli")) {
    const cli = readPackage(join(clients, "cli"));
    packCli(cli);
    for (const platform of platforms) if (!flags.host || isHost(platform)) packPlatform(platform, cli);
  }
} finally {
  rmSync(stage, { recursive: true, force: true });
}
