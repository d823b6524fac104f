import assert from "node:assert/strict";
import { test } from "node:test";
import { npmVersion } from "../scripts/version.mjs";

test("A git description becomes a version of npm", () => {
  for (const [described, want] of [
    ["v1.2.3", "1.2.3"],
    ["1.2.3", "1.2.3"],
    ["v1.2.3-rc.1", "1.2.3-rc.1"],
    ["v1.2.3-4-g0a1b2c3", "1.2.4-dev.4.g0a1b2c3"],
    ["v1.2.3-rc.1-4-g0a1b2c3", "1.2.3-rc.1.4.g0a1b2c3"],
    ["v1.2.3-dirty", "1.2.3-dirty"],
    ["v1.2.3-4-g0a1b2c3-dirty", "1.2.4-dev.4.g0a1b2c3.dirty"],
    ["0012345", "0.0.0-dev.g0012345"], // a number with leading zeros would be no version
    ["a6d772c-dirty", "0.0.0-dev.ga6d772c.dirty"],
    ["dev", "0.0.0-dev"],
  ]) assert.equal(npmVersion(described), want, described);
});

test("What is no version is refused", () => {
  for (const described of ["", "latest", "v1.2", "v1.2.3+build"]) {
    assert.throws(() => npmVersion(described), /is no version/, described);
  }
});
