import { createRequire } from "node:module";
import { type ArgumentsHost, type CallHandler, type CanActivate, Catch, type ExceptionFilter, type ExecutionContext, Inject, Injectable, Module, type NestInterceptor, type PipeTransform, Scope, UseFilters, UseGuards, UseInterceptors } from "@nestjs/common";
import { APP_FILTER, APP_GUARD, NestFactory, REQUEST } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { Cron, CronExpression, ScheduleModule } from "@nestjs/schedule";
import { HealthCheckService, TerminusModule } from "@nestjs/terminus";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context as otelContext, trace } from "@opentelemetry/api";
import { of, tap } from "rxjs";
import { expect, onTestFinished, test, vi } from "vitest";
import { currentGrant, type Occurrence, permanent, unowned } from "@duly/client";
import { CurrentOccurrence, Duly, DulyHealthIndicator, occurrenceOf, OccurrencePayload, Scheduled, traceparent } from "../src/index.js";
import { boot, gate, root, Server, silent, yearly } from "./support/app.js";

const period = "2026-01-01";
const id = `invoices@${period}`;

test("these tests run with the major version of Nest that they are to run with", () => {
  const commonJS = Object.keys(createRequire(import.meta.url).cache); // the newest is of ES modules
  expect(commonJS.some((file) => file.includes("/nest11/node_modules/@nestjs/core/")) ? "11" : "12").toBe(process.env["NEST_MAJOR"]);
});

test("a handler is given its occurrence, with its own provider's dependencies", async () => {
  const server = await Server.start();
  const seen = gate<Occurrence>();
  @Injectable()
  class Invoices {
    constructor(@Inject(Duly) private readonly duly: Duly) {}
    @Scheduled("0 0 1 1 *", { name: "invoices", period: "day", payload: { region: "eu" } })
    send(occ: Occurrence) {
      expect(this.duly).toBeInstanceOf(Duly);
      occ.effects.record("invoice/1");
      seen.open(occ);
    }
  }
  await boot(server, { providers: [Invoices] }, { app: "billing", name: "node-a" });
  await server.client.schedules.trigger("invoices", { period });
  expect(await seen.opened).toMatchObject({ id, period, covers: [period], attempt: 1, payload: { region: "eu" } });
  const done = await server.state(id, "succeeded");
  expect(done.attempts).toMatchObject([{ outcome: "succeeded", node: "node-a", effects: { created: 1 } }]);
});

test("a request-scoped provider is new for each occurrence, which REQUEST injects", async () => {
  const server = await Server.start();
  const made: unknown[] = [];
  @Injectable({ scope: Scope.REQUEST })
  class Invoices {
    constructor(@Inject(REQUEST) readonly request: Occurrence) {
      made.push(this);
    }
    @Scheduled({ id: "invoices", ...yearly })
    send(occ: Occurrence) {
      expect(this.request).toBe(occ);
    }
  }
  await boot(server, { providers: [Invoices] });
  for (const p of [period, "2027-01-01"]) {
    await server.client.schedules.trigger("invoices", { period: p });
    await server.state(`invoices@${p}`, "succeeded");
  }
  expect(made).toHaveLength(2);
});

test("guards, interceptors, pipes and filters take part where the handler names some", async () => {
  const server = await Server.start();
  const seen: string[] = [];
  @Injectable()
  class Guard implements CanActivate {
    canActivate(context: ExecutionContext) {
      seen.push(`guard ${occurrenceOf(context)?.id} ${context.getType<string>()} ${context.getHandler().name}`);
      return true;
    }
  }
  @Injectable()
  class Around implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler) {
      return next.handle().pipe(tap(() => seen.push("interceptor")));
    }
  }
  class Upper implements PipeTransform {
    transform(value: { region: string }) {
      return value.region.toUpperCase();
    }
  }
  @Injectable()
  @UseGuards(Guard)
  class Invoices {
    @UseInterceptors(Around)
    @Scheduled({ id: "invoices", ...yearly, payload: { region: "eu" } })
    send(@OccurrencePayload(new Upper()) region: string, @CurrentOccurrence() occ: Occurrence) {
      seen.push(`${region} ${occ.attempt}`);
      return of(1);
    }
  }
  await boot(server, { providers: [Invoices, Guard, Around] });
  await server.client.schedules.trigger("invoices", { period });
  await server.state(id, "succeeded");
  expect(seen).toEqual([`guard ${id} duly send`, "EU 1", "interceptor"]);
});

test("what guards requests of the whole application does not guard schedules that name no guard", async () => {
  const server = await Server.start();
  class Never implements CanActivate {
    canActivate() {
      return false;
    }
  }
  class Swallow implements ExceptionFilter {
    catch() {
      return "handled";
    }
  }
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      throw new Error("boom");
    }
  }
  await boot(server, { providers: [Invoices, { provide: APP_GUARD, useClass: Never }, { provide: APP_FILTER, useClass: Swallow }] });
  await server.client.schedules.trigger("invoices", { period });
  expect((await server.state(id, "failed")).attempts).toMatchObject([{ error: "boom" }, { error: "boom" }]);
});

test("a guard that refuses fails the attempt", async () => {
  const server = await Server.start();
  class Never implements CanActivate {
    canActivate() {
      return false;
    }
  }
  @Injectable()
  class Invoices {
    @UseGuards(Never)
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      expect.unreachable();
    }
  }
  await boot(server, { providers: [Invoices] });
  await server.client.schedules.trigger("invoices", { period });
  expect((await server.state(id, "failed")).attempts[0]?.error).toMatch(/Forbidden/);
});

test("a filter may say that an error is permanent, and cannot make a success of it", async () => {
  const server = await Server.start();
  const seen: unknown[] = [];
  @Catch(TypeError)
  class Swallow implements ExceptionFilter {
    catch(err: Error, host: ArgumentsHost) {
      seen.push([err.message, occurrenceOf(host)?.attempt]);
    }
  }
  @Catch(RangeError)
  class Final implements ExceptionFilter {
    catch(err: Error) {
      throw permanent(new Error(`no use: ${err.message}`));
    }
  }
  @Injectable()
  @UseFilters(Final)
  class Invoices {
    @UseFilters(Swallow)
    @Scheduled({ id: "invoices", ...yearly })
    send(occ: Occurrence) {
      throw occ.attempt === 1 ? new TypeError("first") : new RangeError("second");
    }
  }
  await boot(server, { providers: [Invoices] });
  await server.client.schedules.trigger("invoices", { period });
  expect((await server.state(id, "failed")).attempts.map((a) => a.error)).toEqual(["first", "no use: second"]);
  expect(seen).toEqual([["first", 1]]);
});

test("enhancers of a provider that Nest could not find them for do not boot, rather than not guard", async () => {
  @Injectable()
  class Invoices {
    @UseGuards(class implements CanActivate {
      canActivate() {
        return true;
      }
    })
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      expect.unreachable();
    }
  }
  await expect(boot(undefined, { providers: [{ provide: "TOKEN", useClass: Invoices }] })).rejects.toThrow(/need a provider under its own class, not under TOKEN/);
});

test("a schedule that is made while the application runs has the method of another one called", async () => {
  const server = await Server.start();
  const seen: unknown[] = [];
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send(occ: Occurrence) {
      return of(occ).pipe(tap((o) => seen.push([o.schedule, o.payload]))); // nothing happens unless it is subscribed to
    }
  }
  const duly = (await boot(server, { providers: [Invoices] })).get(Duly);
  await duly.schedules.put("invoices/7", { ...yearly, payload: { customer: 7 }, target: { handler: "invoices" } });
  await duly.trigger("invoices/7", { period });
  await server.state(`invoices/7@${period}`, "succeeded");
  expect(seen).toEqual([["invoices/7", { customer: 7 }]]);
});

test("what deep code does is under the handler's grant, and effects of a test go unowned", async () => {
  const server = await Server.start();
  const app = await boot(server, { providers: [] }, { mode: "off" });
  const grants: unknown[] = [];
  const deep = async () => {
    await Promise.resolve();
    grants.push(currentGrant()?.occurrence);
  };
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    async send() {
      await deep();
    }
  }
  await boot(server, { providers: [Invoices] });
  await app.get(Duly).trigger("invoices", { period });
  await server.state(id, "succeeded");
  await unowned(deep);
  expect(grants).toEqual([id, undefined]);
});

test("observing records what would have been done and by whom, and calls nothing", async () => {
  const server = await Server.start();
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      expect.unreachable();
    }
  }
  await boot(server, { providers: [Invoices] }, { mode: "observe", name: "node-a" });
  await server.client.schedules.trigger("invoices", { period });
  const done = await server.state(id, "succeeded");
  expect(done.attempts).toMatchObject([{ outcome: "succeeded", result: { observed: true, node: "node-a", handler: "Invoices.send in Root" } }]);
});

test("an application looks on while @Cron still does the work: the same method, the same line", async () => {
  const server = await Server.start();
  const done: unknown[] = [];
  @Injectable()
  class Invoices {
    @Cron(CronExpression.EVERY_SECOND, { name: "invoices", timeZone: "UTC" })
    @Scheduled(CronExpression.EVERY_SECOND, { name: "invoices", timeZone: "UTC" })
    send(occ?: Occurrence) {
      done.push(occ);
    }
  }
  await boot(server, { imports: [ScheduleModule.forRoot()], providers: [Invoices] }, { mode: "observe" });
  await vi.waitFor(() => expect(done.length).toBeGreaterThan(1), 10_000);
  expect(done.filter((occ) => occ !== undefined)).toEqual([]);
  await vi.waitFor(async () => {
    const { items } = await server.client.occurrences.list({ schedule: "invoices", state: ["succeeded"] });
    expect(items.length).toBeGreaterThan(1);
  }, 10_000);
});

test("a process that is off neither declares nor works, and can ask", async () => {
  const server = await Server.start();
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      expect.unreachable();
    }
  }
  const app = await boot(server, { providers: [Invoices] }, { mode: "off" });
  expect((await app.get(Duly).schedules.list()).items).toEqual([]);
  expect((await server.client.nodes()).items.filter((n) => n.name.includes(String(process.pid)))).toEqual([]);
  expect(await app.get(DulyHealthIndicator).isHealthy()).toMatchObject({ duly: { status: "up", mode: "off" } });
  await expect(app.get(Duly).once(undefined as never, "k", () => 1)).rejects.toThrow(/no grant is in force/);
  await expect(unowned(() => app.get(Duly).once(undefined as never, "", () => 1))).rejects.toThrow(/business key/);
});

test("shutting down lets work end before anything that it uses is closed", async () => {
  const server = await Server.start();
  const [begun, goOn] = [gate(), gate()];
  const said: string[] = [];
  @Injectable()
  class Database {
    onModuleDestroy() {
      said.push("database closed");
    }
  }
  class Databases {}
  Module({ providers: [Database], exports: [Database] })(Databases);
  @Injectable()
  class Invoices {
    constructor(@Inject(Database) readonly database: Database) {}
    @Scheduled({ id: "invoices", ...yearly })
    async send() {
      begun.open();
      await goOn.opened;
      said.push("work done");
    }
    onModuleDestroy() {
      said.push("provider closed");
    }
  }
  class Billing {}
  Module({ imports: [Databases], providers: [Invoices] })(Billing);
  const app = await NestFactory.createApplicationContext(root(server, { imports: [Billing] }), silent);
  await server.client.schedules.trigger("invoices", { period });
  await begun.opened;
  const closed = app.close();
  await new Promise((resolve) => setTimeout(resolve, 200)); // time enough to close what must stay open
  expect(said).toEqual([]);
  goOn.open();
  await closed;
  expect(said).toEqual(["work done", "provider closed", "database closed"]);
  expect((await server.client.occurrences.get(id)).state).toBe("succeeded");
});

test("it starts last: a handler is not called before the application has booted", async () => {
  const server = await Server.start();
  await server.client.schedules.put("invoices", { ...yearly, target: { handler: "invoices" } });
  await server.client.schedules.trigger("invoices", { period });
  const said: string[] = [];
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send() {
      said.push("called");
    }
    async onApplicationBootstrap() {
      await new Promise((resolve) => setTimeout(resolve, 300)); // time enough to be called too early
      said.push("booted");
    }
  }
  await boot(server, { providers: [Invoices] });
  await server.state(id, "succeeded");
  expect(said).toEqual(["booted", "called"]);
});

test.each([["Express", () => new ExpressAdapter()], ["Fastify", () => new FastifyAdapter()]])("with %s, Terminus asks its health", async (_, adapter) => {
  const server = await Server.start();
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    send(occ: Occurrence) {
      occ.setResult("done");
    }
  }
  const app = await NestFactory.create(root(server, { imports: [TerminusModule], providers: [Invoices] }), adapter(), silent);
  onTestFinished(() => app.close());
  await app.listen(0);
  await app.get(Duly).trigger("invoices", { period });
  await server.state(id, "succeeded");
  const [health, duly] = [app.get(HealthCheckService), app.get(DulyHealthIndicator)];
  expect(await health.check([() => duly.isHealthy()])).toMatchObject({ status: "ok", details: { duly: { status: "up", mode: "work", schedules: ["invoices"] } } });
  await server.kill();
  await vi.waitFor(() => expect(health.check([() => duly.isHealthy()])).rejects.toThrow(/Service Unavailable/), 20_000);
});

test("all attempts at an occurrence are in one trace, each in a span that the handler is in", async () => {
  const server = await Server.start();
  const contexts = new AsyncLocalStorageContextManager().enable();
  otelContext.setGlobalContextManager(contexts);
  onTestFinished(() => otelContext.disable());
  const seen: (string | undefined)[] = [];
  let expected = "";
  @Injectable()
  class Invoices {
    @Scheduled({ id: "invoices", ...yearly })
    async send(occ: Occurrence) {
      await Promise.resolve();
      seen.push(trace.getActiveSpan()?.spanContext().traceId);
      expected = traceparent(occ);
      if (occ.attempt === 1) throw new Error("once more");
    }
  }
  await boot(server, { providers: [Invoices] });
  await server.client.schedules.trigger("invoices", { period });
  await server.state(id, "succeeded");
  expect(expected).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(seen).toEqual([expected.slice(3, 35), expected.slice(3, 35)]);
});
