import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const nest11 = fileURLToPath(new URL("nest11/node_modules/", import.meta.url));

export default defineConfig({
  test: {
    globalSetup: ["test/support/setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    minWorkers: 1,
    include: ["test/**/*.test.ts"],
    // The same tests with the newest major version of Nest and with the one before.
    projects: [
      { extends: true, test: { name: "nest12", env: { NEST_MAJOR: "12" } } },
      {
        extends: true,
        test: { name: "nest11", env: { NEST_MAJOR: "11" } },
        resolve: { alias: [{ find: /^(@nestjs\/(?:common|core|schedule|terminus|platform-[a-z]+)|reflect-metadata|rxjs)$/, replacement: `${nest11}$1` }] },
      },
    ],
  },
});
