// The same ledger through every driver and ORM, each on a database of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { PrismaPg } from "@prisma/adapter-pg";
import SqliteDriver from "better-sqlite3";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { knex as makeKnex } from "knex";
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from "kysely";
import mysqlCallback from "mysql2";
import mysqlPromise from "mysql2/promise";
import pgDriver from "pg";
import { DataSource } from "typeorm";
import { inject, onTestFinished } from "vitest";
import { sqlite } from "../../src/adapters/better-sqlite3.js";
import { drizzle } from "../../src/adapters/drizzle.js";
import { knex } from "../../src/adapters/knex.js";
import { kysely } from "../../src/adapters/kysely.js";
import { mysql } from "../../src/adapters/mysql2.js";
import { pg } from "../../src/adapters/pg.js";
import { prisma } from "../../src/adapters/prisma.js";
import { typeorm } from "../../src/adapters/typeorm.js";
import type { Db, Dialect } from "../../src/index.js";

export interface Database {
  dialect: Dialect;
  /** Its name on its server, or its file. */
  name: string;
  /** As drivers of Go take it. */
  dsn: string;
}

let count = 0;

export async function database(dialect: Dialect): Promise<Database> {
  if (dialect === "sqlite") {
    const dir = mkdtempSync("/tmp/duly-sqlite-");
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const file = `${dir}/app.db`;
    new SqliteDriver(file).pragma("journal_mode = WAL");
    return { dialect, name: file, dsn: `file:${file}?_pragma=busy_timeout(10000)&_txlock=immediate` };
  }
  const name = `t${process.pid}_${++count}`;
  if (dialect === "postgres") {
    const client = new pgDriver.Client({ host: inject("postgres"), user: "postgres", database: "postgres" });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return { dialect, name, dsn: `postgres://postgres@/${name}?host=${inject("postgres")}` };
  }
  const connection = await mysqlPromise.createConnection({ socketPath: inject("mysql"), user: "root" });
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  await connection.end();
  return { dialect, name, dsn: `root@unix(${inject("mysql")})/${name}` };
}

const pgConfig = (db: Database) => ({ host: inject("postgres"), user: "postgres", database: db.name, max: 8 });
const mysqlConfig = (db: Database) => ({ socketPath: inject("mysql"), user: "root", database: db.name, connectionLimit: 8 });

function sqliteConnection(db: Database): SqliteDriver.Database {
  const connection = new SqliteDriver(db.name, { timeout: 10_000 });
  onTestFinished(() => void connection.close());
  return connection;
}

function pgPool(db: Database): pgDriver.Pool {
  const pool = new pgDriver.Pool(pgConfig(db));
  pool.on("error", () => undefined);
  onTestFinished(() => pool.end());
  return pool;
}

/** What a transaction of a ledger can do for the application: one statement of its own. */
export interface Ledger<X = never> {
  db: Db<X>;
  /** Runs the application's own statement in a transaction. */
  write(tx: X, statement: string): Promise<unknown>;
}

const ledger = <X>(db: Db<X>, write: Ledger<X>["write"]): Ledger => ({ db, write }) as unknown as Ledger;

/** Every way to a ledger. */
export const ways: Record<string, { dialect: Dialect; open: (db: Database) => Ledger | Promise<Ledger> }> = {
  pg: { dialect: "postgres", open: (db) => ledger(pg(pgPool(db)), (tx, s) => tx.query(s)) },
  mysql2: {
    dialect: "mysql",
    open: (db) => {
      const pool = mysqlPromise.createPool(mysqlConfig(db));
      onTestFinished(() => pool.end());
      return ledger(mysql(pool), (tx, s) => tx.query(s));
    },
  },
  "better-sqlite3": { dialect: "sqlite", open: (db) => ledger(sqlite(sqliteConnection(db)), async (tx, s) => tx.exec(s)) },
  "knex with pg": { dialect: "postgres", open: (db) => knexLedger("postgres", { client: "pg", connection: pgConfig(db) }) },
  "knex with mysql2": { dialect: "mysql", open: (db) => knexLedger("mysql", { client: "mysql2", connection: { socketPath: inject("mysql"), user: "root", database: db.name } }) },
  "knex with better-sqlite3": { dialect: "sqlite", open: (db) => knexLedger("sqlite", { client: "better-sqlite3", connection: { filename: db.name }, useNullAsDefault: true }) },
  "kysely with pg": { dialect: "postgres", open: (db) => kyselyLedger("postgres", new PostgresDialect({ pool: new pgDriver.Pool(pgConfig(db)) })) },
  "kysely with mysql2": { dialect: "mysql", open: (db) => kyselyLedger("mysql", new MysqlDialect({ pool: mysqlCallback.createPool(mysqlConfig(db)) })) },
  "kysely with better-sqlite3": { dialect: "sqlite", open: (db) => kyselyLedger("sqlite", new SqliteDialect({ database: new SqliteDriver(db.name, { timeout: 10_000 }) })) },
  "typeorm with pg": { dialect: "postgres", open: (db) => typeormLedger("postgres", new DataSource({ type: "postgres", host: inject("postgres"), username: "postgres", database: db.name })) },
  "typeorm with mysql2": { dialect: "mysql", open: (db) => typeormLedger("mysql", new DataSource({ type: "mysql", username: "root", database: db.name, socketPath: inject("mysql") })) },
  "typeorm with better-sqlite3": { dialect: "sqlite", open: (db) => typeormLedger("sqlite", new DataSource({ type: "better-sqlite3", database: db.name, timeout: 10_000 })) },
  "prisma with pg": {
    dialect: "postgres",
    open: (db) => {
      const { PrismaClient } = createRequire(import.meta.url)("../../node_modules/.duly-prisma") as typeof import("../prisma/client.js");
      const client = new PrismaClient({ adapter: new PrismaPg(pgConfig(db)) });
      onTestFinished(() => client.$disconnect());
      return ledger(prisma("postgres", client, { timeout: 20_000, maxWait: 20_000 }), (tx, s) => tx.$executeRawUnsafe(s));
    },
  },
  "drizzle with pg": {
    dialect: "postgres",
    open: (db) => ledger(drizzle("postgres", drizzlePg(pgPool(db)), drizzleSql), (tx, s) => tx.execute(drizzleSql.raw(s))),
  },
  "drizzle with mysql2": {
    dialect: "mysql",
    open: (db) => {
      const pool = mysqlPromise.createPool(mysqlConfig(db));
      onTestFinished(() => pool.end());
      return ledger(drizzle("mysql", drizzleMysql(pool), drizzleSql), (tx, s) => tx.execute(drizzleSql.raw(s)));
    },
  },
};

function knexLedger(dialect: Dialect, config: object): Ledger {
  const db = makeKnex(config);
  onTestFinished(() => db.destroy());
  return ledger(knex(dialect, db), async (tx, s) => tx.raw(s));
}

function kyselyLedger(dialect: Dialect, of: PostgresDialect | MysqlDialect | SqliteDialect): Ledger {
  const db = new Kysely<Record<string, never>>({ dialect: of });
  onTestFinished(() => db.destroy());
  return ledger(kysely(dialect, db), (tx, s) =>
    tx.executeQuery({ sql: s, parameters: [], query: { kind: "RawNode", sqlFragments: [s], parameters: [] }, queryId: { queryId: "test" } } as never));
}

async function typeormLedger(dialect: Dialect, source: DataSource): Promise<Ledger> {
  await source.initialize();
  onTestFinished(() => source.destroy());
  return ledger(typeorm(dialect, source), (tx, s) => tx.query(s));
}

export interface GoAnswer {
  result?: unknown;
  reused: boolean;
  reuses?: boolean[];
  code?: string;
  error?: string;
  column?: string;
  whole?: string;
  idempotency_key?: string;
  entry?: { key: string; state: string; result?: unknown; occurrence?: string; attempt?: number; token?: number; resource?: string; idempotency_key?: string; calls?: number };
}

/** The Go package effect, on the same database. */
export function go(db: Database): (command: object) => Promise<GoAnswer> {
  const child = spawn(`${inject("bin")}/interop`, [db.dialect, db.dsn], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  onTestFinished(() => void child.kill("SIGKILL"));
  return async (command) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const line = await lines.next();
    if (line.done) throw new Error("the Go side has ended");
    return JSON.parse(line.value) as GoAnswer;
  };
}
