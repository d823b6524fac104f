import { DulyError } from "../errors.js";
import type { Dialect } from "./sql.js";

/**
 * What a database's error means to a transaction. `conflict`: the whole of it can
 * be tried again. `lost`: the connection is gone, and with it the answer.
 */
export type Fault = "conflict" | "lost" | "aborted" | "read_only" | "no_table" | "duplicate" | "refused" | "other";

/** Reads an error by the codes that drivers give, wherever an ORM has put them. */
export function faultOf(dialect: Dialect, err: unknown): Fault {
  for (const e of parts(err)) {
    const fault = own(dialect, e);
    if (fault !== "other") return fault;
  }
  return "other";
}

/** Where ORMs keep the driver's error: cause (Drizzle), driverError (TypeORM), meta (Prisma). */
const places = ["cause", "driverError", "driverAdapterError", "meta", "parent", "original"];

function* parts(err: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof err !== "object" || err === null || depth > 8) return;
  const e = err as Record<string, unknown>;
  yield e;
  for (const place of places) yield* parts(e[place], depth + 1);
  if (Array.isArray(e["errors"])) for (const one of e["errors"]) yield* parts(one, depth + 1);
}

function own(dialect: Dialect, e: Record<string, unknown>): Fault {
  if (e instanceof DulyError) return "other";
  const code = e["originalCode"] ?? e["code"];
  if (typeof code === "string") {
    const shared = anywhere[code];
    if (shared !== undefined) return shared;
  }
  switch (dialect) {
    case "postgres":
      if (typeof code === "string" && /^[0-9][0-9A-Z]{4}$/.test(code)) return postgres(code);
      // The driver gives these no code.
      if (e instanceof Error && /^(Connection terminated|Client has encountered a connection error|Client was closed)/.test(e.message)) return "lost";
      return "other";
    case "mysql": {
      const n = Number(e["errno"] ?? code);
      return Number.isInteger(n) && n >= 1000 && n < 6000 ? mysql[n] ?? "refused" : "other";
    }
    case "sqlite":
      return typeof code === "string" && code.startsWith("SQLITE_") ? sqlite(code, e) : "other";
  }
}

/** Codes of the platform, of drivers and of Prisma. */
const anywhere: Record<string, Fault> = {
  ECONNRESET: "lost", ECONNREFUSED: "lost", EPIPE: "lost", ETIMEDOUT: "lost", ENOENT: "lost", PROTOCOL_CONNECTION_LOST: "lost",
  P1001: "lost", P1002: "lost", P1008: "lost", P1017: "lost", P2034: "conflict", P2002: "duplicate",
};

function postgres(state: string): Fault {
  switch (state) {
    case "40001": // serialization failure
    case "40P01": // deadlock
    case "55P03": // lock not available
      return "conflict";
    case "23505":
      return "duplicate";
    case "25P02":
      return "aborted";
    case "25006":
      return "read_only";
    case "42P01": // undefined table
    case "42703": // undefined column
      return "no_table";
    case "57P01": // shutting down
    case "57P02": // crashed
    case "57P03": // starting up
    case "25P03": // idle for too long
      return "lost";
  }
  return state.startsWith("08") ? "lost" : "refused";
}

const mysql: Record<number, Fault> = {
  1205: "conflict", 1213: "conflict", 1020: "conflict", 3572: "conflict", 1614: "conflict",
  1062: "duplicate", 1586: "duplicate",
  1290: "read_only", 1792: "read_only", 1836: "read_only",
  1146: "no_table", 1054: "no_table",
  1053: "lost", 1077: "lost", 1927: "lost", 1047: "lost",
};

function sqlite(code: string, e: Record<string, unknown>): Fault {
  if (code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "SQLITE_CONSTRAINT_UNIQUE") return "duplicate";
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "conflict";
  if (code.startsWith("SQLITE_READONLY")) return "read_only";
  // SQLite has no code of its own for a missing table.
  if (code === "SQLITE_ERROR" && /no such (table|column)/.test(String(e["message"]))) return "no_table";
  return "refused";
}

/** Says what an error of one of our own statements means and what to do about it. */
export function explain(dialect: Dialect, doing: string, err: unknown): unknown {
  if (err instanceof DulyError) return err;
  const said = err instanceof Error ? err.message : String(err);
  const because = (code: "unavailable" | "invalid", what: string) => new DulyError(code, `${doing}: ${what}: ${said}`, { cause: err });
  switch (faultOf(dialect, err)) {
    case "conflict":
      return because("unavailable", "another transaction was in the way; try the whole transaction again");
    case "lost":
      return because("unavailable", "the connection to the database is gone");
    case "no_table":
      return because("invalid", `the effect ledger's tables are missing or too old; create them with \`duly effects ddl --dialect ${dialect}\` or migrate()`);
    case "read_only":
      return because("invalid", "the database or the transaction is read-only, so no effect can be recorded in it");
    case "aborted":
      return because("invalid", "an earlier error has already doomed this transaction; roll it back and begin another");
    default:
      return err;
  }
}
