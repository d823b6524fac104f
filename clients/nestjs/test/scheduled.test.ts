import { Injectable, Module, Scope } from "@nestjs/common";
import { CronExpression } from "@nestjs/schedule";
import { expect, expectTypeOf, test } from "vitest";
import type { api, Occurrence } from "@duly/client";
import { type CronOptions, Duly, DulyModule, DulyHealthIndicator, Scheduled } from "../src/index.js";
import { boot, Server, yearly } from "./support/app.js";

/** A provider whose method is decorated so. */
function provider(decorate: MethodDecorator) {
  class Invoices {
    send(): void {
      expect.unreachable();
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Invoices.prototype, "send") ?? {};
  decorate(Invoices.prototype, "send", descriptor);
  return Invoices;
}

test("what cannot be meant is an error that names method, field and remedy", () => {
  const cases: [() => MethodDecorator, RegExp][] = [
    [() => Scheduled("0 0 * * *", undefined as never), /Invoices\.send: the schedule needs a name that stays the same.*name: "…"/],
    [() => Scheduled({ cron: "0 0 * * *" } as never), /Invoices\.send: the schedule needs an id/],
    [() => Scheduled({ id: "invoices" }), /nothing says when "invoices" is due: give it a cron expression/],
    [() => Scheduled({ id: "invoices", crom: "0 0 * * *" } as never), /there is no option "crom".*cron/],
    [() => Scheduled({ id: "invoices", cron: "0 0 * * *", timeZone: "UTC" } as never), /"timeZone" \(here it is "timezone"\)/],
    [() => Scheduled("0 0 * * *", { name: "invoices", utcOffset: 60 } as never), /"utcOffset" \(a zone says it/],
    [() => Scheduled("0 0 * * *", { name: "invoices", threshold: 250 } as never), /"threshold" \(nothing due is dropped/],
    [() => Scheduled("0 0 * * *", { name: "invoices", initialDelay: 5 } as never), /"initialDelay" \(say from when/],
    [() => Scheduled("0 0 * * *", { name: "invoices", waitForCompletion: true, overlap: "skip" }), /waitForCompletion and overlap say the same/],
  ];
  for (const [decorator, message] of cases) expect(() => provider(decorator())).toThrow(message);
});

test("unknown options of the module are refused when it boots", async () => {
  await expect(boot(undefined, {}, { timezone: "UTC" } as never)).rejects.toThrow(/there is no option "timezone"/);
  await expect(boot(undefined, {}, { mode: "watch" } as never)).rejects.toThrow(/mode "watch" is none of/);
});

test("the module twice does not boot", async () => {
  await expect(boot(undefined, { imports: [DulyModule.forRoot({ app: "other" })] })).rejects.toThrow(/DulyModule is set up twice/);
});

test("one id twice does not boot, and the message says where", async () => {
  const [a, b] = [provider(Scheduled({ id: "invoices", ...yearly })), provider(Scheduled({ id: "invoices", ...yearly }))];
  await expect(boot(undefined, { providers: [a, b] })).rejects.toThrow(/"invoices" is declared twice: by Invoices\.send in Root, and by Invoices\.send in Root\. Each schedule needs/);
  class Feature {}
  Module({ providers: [a] })(Feature);
  await expect(boot(undefined, { imports: [Feature], providers: [a] })).rejects.toThrow(/Provide the class in one module and import that one/);
});

test("an alias of a provider is no second schedule", async () => {
  const a = provider(Scheduled({ id: "invoices", ...yearly }));
  const server = await Server.start();
  const app = await boot(server, { providers: [a, { provide: "ALIAS", useExisting: a }] });
  expect((await app.get(Duly).schedules.list()).items.map((s) => s.id)).toEqual(["invoices"]);
});

test("a cron expression that cannot be meant does not boot", async () => {
  const server = await Server.start();
  await expect(boot(server, { providers: [provider(Scheduled("0 0 30 2 *", { name: "invoices" }))] })).rejects.toThrow(/"invoices" \(Invoices\.send in Root\): cron: /);
  await expect(boot(server, { providers: [provider(Scheduled("0 0 * * *", { name: "invoices", timeZone: "Europe/Atlantis" }))] })).rejects.toThrow(/timezone: .*Europe\/Atlantis/);
  const mine = (await server.client.nodes()).items.filter((n) => n.pid === process.pid);
  expect(mine.map((n) => n.state)).toEqual(["left", "left"]);
});

test("a server that is down does not keep an application from booting; it joins when the server is there", async () => {
  const server = await Server.start();
  await server.kill();
  const app = await boot(server, { providers: [provider(Scheduled({ id: "invoices", ...yearly }))] });
  const health = app.get(DulyHealthIndicator);
  expect(await health.isHealthy()).toMatchObject({ duly: { status: "down", joined: false } });
  await server.up();
  await expect.poll(() => health.isHealthy("it"), { timeout: 20_000 }).toMatchObject({ it: { status: "up", joined: true, schedules: ["invoices"] } });
});

test("@Cron's shape, its expressions and dates become definitions", async () => {
  const server = await Server.start();
  const declared: Record<string, MethodDecorator> = {
    zone: Scheduled("0 30 1 * * 1-5", { name: "zone", timeZone: "Europe/Berlin" }),
    waits: Scheduled(CronExpression.EVERY_10_SECONDS, { name: "waits", waitForCompletion: true }),
    overlaps: Scheduled(CronExpression.EVERY_MINUTE, { name: "overlaps", waitForCompletion: false }),
    once: Scheduled(new Date("2099-01-01T00:00:00Z"), { name: "once" }),
    more: Scheduled("0 0 * * *", { name: "more", period_offset: -1, lease: "5s" }),
    own: Scheduled({ id: "own", every: "15m", timezone: "Asia/Tokyo" }),
  };
  const off = provider(Scheduled("0 0 * * *", { name: "off", disabled: true }));
  const app = await boot(server, { providers: [off, ...Object.values(declared).map(provider)] }, { defaults: { timezone: "Europe/Rome", timeout: "5m" } });
  const { items } = await app.get(Duly).schedules.list();
  const definitions: Record<string, api.ScheduleStatus> = Object.fromEntries(items.map((s) => [s.id ?? "", s]));
  expect(definitions).toMatchObject({
    zone: { cron: "0 30 1 * * 1-5", timezone: "Europe/Berlin", timeout: "5m", target: { handler: "zone" } },
    waits: { cron: "*/10 * * * * *", overlap: "wait", timezone: "Europe/Rome" },
    overlaps: { cron: "*/1 * * * *", overlap: "allow" },
    once: { at: "2099-01-01T00:00:00.000Z" },
    more: { cron: "0 0 * * *", period_offset: -1, lease: "5s" },
    own: { every: "15m", timezone: "Asia/Tokyo" },
  });
  expect(Object.keys(definitions)).toHaveLength(6);
});

test("every CronExpression of @nestjs/schedule is understood", async () => {
  const server = await Server.start();
  const all = Object.entries(CronExpression);
  expect(all.length).toBeGreaterThan(50);
  await boot(server, { providers: all.map(([name, cron]) => provider(Scheduled(cron, { name }))) }, { mode: "observe" });
  const { items } = await server.client.schedules.list({ limit: 500 });
  expect(items.map((s) => s.id).sort()).toEqual(all.map(([name]) => name).sort());
});

test("a request-scoped controller cannot have schedules, and says so", async () => {
  const controller = provider(Scheduled({ id: "invoices", ...yearly }));
  Injectable({ scope: Scope.REQUEST })(controller);
  await expect(boot(undefined, { controllers: [controller] })).rejects.toThrow(/request-scoped controller/);
});

// Checked by tsc before the tests are run.
test("types refuse what the decorator would", () => {
  // @ts-expect-error -- a name is missing
  expectTypeOf(Scheduled).toBeCallableWith("* * * * *", {});
  // @ts-expect-error -- an id is missing
  expectTypeOf(Scheduled).toBeCallableWith({ cron: "* * * * *" });
  // @ts-expect-error -- there is no such policy
  expectTypeOf(Scheduled).toBeCallableWith({ id: "a", cron: "* * * * *", overlap: "sometimes" });
  expectTypeOf(Scheduled).toBeCallableWith({ id: "a", cron: "* * * * *", overlap: "combine" });
  expectTypeOf<CronOptions>().toHaveProperty("period_offset");
  expectTypeOf<CronOptions>().not.toHaveProperty("cron");
  expectTypeOf(DulyModule.forRootAsync).toBeCallableWith({ useFactory: () => ({ mode: "observe" as const }) });
  expectTypeOf<Duly["trigger"]>().parameter(0).toBeString();
  expectTypeOf<Occurrence<{ a: string }>["payload"]>().toEqualTypeOf<{ a: string }>();
});
