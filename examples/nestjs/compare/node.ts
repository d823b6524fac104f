// A process of an application that bills three customers when a cron expression says
// so: by @nestjs/schedule, by BullMQ's job scheduler, or by Duly with a handler that is
// just like theirs, or with one that guards its effects.
import "reflect-metadata";
import { setTimeout } from "node:timers/promises";
import { Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Cron, ScheduleModule } from "@nestjs/schedule";
import { migrate, type Occurrence } from "@duly/client";
import { pg as ledger } from "@duly/client/pg";
import { DulyModule, Scheduled } from "@duly/nestjs";
import { Queue, Worker } from "bullmq";
import pg from "pg";

const { KIND, NODE_NAME = "", TRIAL = "", CRON = "", REDIS = "" } = process.env;
const customers = [1, 2, 3];
const lease = 3000;

const pool = new pg.Pool({ max: 4 });
pool.on("error", () => undefined);
const db = ledger(pool);

process.on("SIGUSR2", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * lease)); // a blocked event loop

const started = () => pool.query("INSERT INTO starts (trial, node) VALUES ($1, $2)", [TRIAL, NODE_NAME]);

const insert = (to: { query(text: string, values: unknown[]): Promise<unknown> }, customer: number) =>
  to.query("INSERT INTO invoices (trial, customer, made_by) VALUES ($1, $2, $3)", [TRIAL, customer, NODE_NAME]);

/** A handler as documentation shows them. */
async function bill(): Promise<void> {
  await started();
  for (const customer of customers) {
    await insert(pool, customer);
    await setTimeout(700);
  }
}

@Injectable()
class ByNestSchedule {
  @Cron(CRON, { name: "invoices", timeZone: "UTC" })
  send() {
    return bill();
  }
}

@Injectable()
class ByDuly {
  @Scheduled(CRON, { name: TRIAL, timeZone: "UTC", lease: `${lease}ms`, retry: { backoff: "1s" } })
  send() {
    return bill();
  }
}

@Injectable()
class ByDulyOnce {
  @Scheduled(CRON, { name: TRIAL, timeZone: "UTC", lease: `${lease}ms`, retry: { backoff: "1s" } })
  async send(occ: Occurrence) {
    await started();
    for (const customer of customers) {
      await occ.effects.perform(db, `invoice/${customer}/${occ.id}`, async (tx) => {
        await insert(tx, customer);
      });
      await setTimeout(700);
    }
  }
}

async function byBullMQ(): Promise<void> {
  const connection = { path: REDIS, maxRetriesPerRequest: null };
  const queue = new Queue(TRIAL, { connection });
  queue.on("error", () => undefined);
  await queue.upsertJobScheduler("invoices", { pattern: CRON, tz: "UTC" }, { name: "bill" });
  // As long as the leases of the others; by default all three are 30 s.
  const worker = new Worker(TRIAL, bill, { connection, lockDuration: lease, stalledInterval: lease });
  worker.on("error", () => undefined);
}

async function main(): Promise<void> {
  if (KIND === "bullmq") await byBullMQ();
  else {
    const duly = DulyModule.forRoot({ name: NODE_NAME, sessionTtl: "5s" });
    const [imports, provider] = KIND === "cron" ? [[ScheduleModule.forRoot()], ByNestSchedule] : [[duly], KIND === "duly" ? ByDuly : ByDulyOnce];
    if (KIND === "duly-once") await migrate(db);
    class App {}
    Module({ imports, providers: [provider] })(App);
    await NestFactory.createApplicationContext(App, { logger: ["error"] });
  }
  process.stdout.write("ready\n");
}

void main();
