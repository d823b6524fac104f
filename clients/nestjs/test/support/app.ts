import "reflect-metadata";
import { type INestApplicationContext, Module, type ModuleMetadata } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { onTestFinished } from "vitest";
import { Duly as Server } from "../../../node/test/support/duly.js";
import { DulyModule, type DulyModuleOptions } from "../../src/index.js";

export { gate, until } from "../../../node/test/support/duly.js";
export { Server };

/** Due once a year, so that only what a test triggers is. */
export const yearly = { cron: "0 0 1 1 *", period: "day", retry: { backoff: "1ms", max_backoff: "1ms", max_attempts: 2 } } as const;

/** The class of an application's root module. */
export function root(server: Server | undefined, metadata: ModuleMetadata, options: DulyModuleOptions = {}) {
  class Root {}
  const duly = DulyModule.forRoot({ url: server?.url ?? "http://127.0.0.1:9", pollWait: "5s", drainTime: "10s", cancelGrace: "1s", ...options });
  Module({ ...metadata, imports: [duly, ...(metadata.imports ?? [])] })(Root);
  return Root;
}

export const silent = { logger: false, abortOnError: false } as const;

/** An application of those providers that has booted and joined, and is closed when the test is over. */
export async function boot(server: Server | undefined, metadata: ModuleMetadata, options: DulyModuleOptions = {}): Promise<INestApplicationContext> {
  const app = await NestFactory.createApplicationContext(root(server, metadata, options), silent);
  onTestFinished(() => app.close());
  return app;
}
