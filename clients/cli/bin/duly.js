#!/usr/bin/env node
// Starts the duly binary that was installed for this platform, and gets out of
// its way: arguments, environment, input and output, signals and the exit code
// are the binary's own.
"use strict";

const { spawn } = require("node:child_process");
const { accessSync, constants } = require("node:fs");
const { optionalDependencies: platforms = {} } = require("../package.json");

// What a shell says of a command that is not there, and of one that will not start.
const NOT_FOUND = 127;
const NOT_STARTED = 126;

function locate(platform) {
  try {
    return require.resolve(`${platform}/bin/duly${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    return undefined;
  }
}

function installed(name) {
  try {
    require.resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

function explainMissing(wanted) {
  const known = Object.keys(platforms);
  if (!known.includes(wanted)) {
    return [
      `there is no binary of duly for ${process.platform} on ${process.arch}.`,
      `There is one for: ${known.map((name) => name.replace("@duly/cli-", "")).join(", ") || "none"}.`,
      "Build your own with Go 1.26: go install github.com/duly-dev/duly/cmd/duly@latest",
    ];
  }
  const others = known.filter(installed);
  if (others.length > 0) {
    return [
      `node_modules has ${others.join(" and ")}, but this machine needs ${wanted}.`,
      "It was installed on another platform, or copied from one: run npm install here, on this machine.",
    ];
  }
  return [
    `the package ${wanted}, which holds the binary, is not installed.`,
    "Optional dependencies were left out (--omit=optional, --no-optional), or the lock file was written on another platform.",
    `Install them, or that package alone: npm install ${wanted}@${platforms[wanted]}`,
  ];
}

function fail(lines, code) {
  console.error(`duly: ${lines.join("\n  ")}`);
  process.exit(code);
}

// stayAsParent passes signals on to the binary, and ends as it ended. Of what a
// terminal sends to both, duly makes one signal.
function stayAsParent(binary, args) {
  const child = spawn(binary, args, { stdio: "inherit" });
  const passOn = (signal) => child.kill(signal);
  const signals = process.platform === "win32" ? ["SIGINT", "SIGBREAK"] : ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"];
  for (const signal of signals) process.on(signal, passOn);
  if (underNpx) endWithParent(child);
  child.on("error", (err) => fail([`${binary} cannot be started: ${err.message}`], NOT_STARTED));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const own of signals) process.off(own, passOn);
    process.kill(process.pid, signal);
  });
}

// endWithParent drains duly when npx has been told to end: npx starts us by a
// shell, tells the shell, and a shell that dies tells nobody.
function endWithParent(child) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 250);
  watch.unref();
}

const wanted = `@duly/cli-${process.platform}-${process.arch}`;
const binary = locate(wanted);
if (binary === undefined) fail(explainMissing(wanted), NOT_FOUND);
try {
  accessSync(binary, constants.X_OK);
} catch (err) {
  fail([`${binary} cannot be started: ${err.message}`], NOT_STARTED);
}

const args = process.argv.slice(2);
const underNpx = process.env.npm_command === "exec";
if (typeof process.execve === "function" && process.platform !== "win32" && !underNpx) {
  process.execve(binary, [binary, ...args], process.env);
} else {
  stayAsParent(binary, args);
}
