import type SqliteDriver from "better-sqlite3";
import type { MySql2Database } from "drizzle-orm/mysql2";
import { sql as drizzleSql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { RequestHandler } from "express";
import type { FastifyInstance } from "fastify";
import type { Knex } from "knex";
import type { Kysely, Transaction } from "kysely";
import type { Pool, PoolConnection } from "mysql2/promise";
import type { Pool as PgPool, PoolClient } from "pg";
import type { DataSource, EntityManager } from "typeorm";
import { expectTypeOf, test } from "vitest";
import { sqlite } from "../src/adapters/better-sqlite3.js";
import { drizzle } from "../src/adapters/drizzle.js";
import { knex } from "../src/adapters/knex.js";
import { kysely } from "../src/adapters/kysely.js";
import { mysql } from "../src/adapters/mysql2.js";
import { pg } from "../src/adapters/pg.js";
import { typeorm } from "../src/adapters/typeorm.js";
import { expressFence, fastifyFence, MemoryFence } from "../src/fence/index.js";
import { type api, type Client, type Db, type Handler, perform, type Worker } from "../src/index.js";

/** What a Db calls a transaction. */
type Native<D> = D extends Db<infer X> ? X : never;
interface Tables {
  invoices: { number: number };
}

// The types themselves are checked by tsc before the tests are run.
test("an application is given the transactions of its own driver", () => {
  const made = {
    pg: (p: PgPool) => pg(p),
    mysql: (p: Pool) => mysql(p),
    sqlite: (d: SqliteDriver.Database) => sqlite(d),
    knex: (k: Knex) => knex("postgres", k),
    kysely: (k: Kysely<Tables>) => kysely("postgres", k),
    typeorm: (d: DataSource) => typeorm("postgres", d),
    drizzlePg: (d: NodePgDatabase) => drizzle("postgres", d, drizzleSql),
    drizzleMysql: (d: MySql2Database) => drizzle("mysql", d, drizzleSql),
  };
  expectTypeOf(made).toBeObject();
  expectTypeOf<Native<ReturnType<typeof made.pg>>>().toEqualTypeOf<PoolClient>();
  expectTypeOf<Native<ReturnType<typeof made.mysql>>>().toEqualTypeOf<PoolConnection>();
  expectTypeOf<Native<ReturnType<typeof made.sqlite>>>().toEqualTypeOf<SqliteDriver.Database>();
  expectTypeOf<Native<ReturnType<typeof made.knex>>>().toExtend<Knex.Transaction>();
  expectTypeOf<Native<ReturnType<typeof made.kysely>>>().toEqualTypeOf<Transaction<Tables>>();
  expectTypeOf<Native<ReturnType<typeof made.typeorm>>>().toEqualTypeOf<EntityManager>();
  expectTypeOf<Native<ReturnType<typeof made.drizzlePg>>>().toHaveProperty("insert");
  expectTypeOf<Native<ReturnType<typeof made.drizzleMysql>>>().toHaveProperty("insert");
});

test("types say what is meant", () => {
  expectTypeOf(expressFence(new MemoryFence())).toExtend<RequestHandler>();
  const hook = (app: FastifyInstance) => app.addHook("onRequest", fastifyFence(new MemoryFence()));
  expectTypeOf(hook).toBeFunction();
  const handler: Handler<{ region: string }> = (occ) => expectTypeOf(occ.payload.region).toBeString();
  expectTypeOf((worker: Worker) => worker.handle("a", handler)).returns.toEqualTypeOf<Worker>();
  expectTypeOf<Client["schedules"]["list"]>().toBeCallableWith({ prefix: "a", paused: true });
  expectTypeOf<Client["occurrences"]["get"]>().returns.resolves.toEqualTypeOf<api.Occurrence>();
  expectTypeOf(perform<number, PoolClient>).returns.resolves.toHaveProperty("result");
  // @ts-expect-error -- there is no such state
  const state: api.State = "sleeping";
  expectTypeOf(state).toExtend<string>();
});
