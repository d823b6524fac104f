import { serial } from "../effect/serial.js";
import type { Db, Row, Tx } from "../effect/sql.js";

/** The part of better-sqlite3 that is used here. */
export interface SqliteDatabase {
  prepare(sql: string): { run(...params: unknown[]): { changes: number | bigint }; all(...params: unknown[]): unknown[] };
  exec(sql: string): unknown;
}

/**
 * A transaction that the application has begun: `db.exec("BEGIN IMMEDIATE")`.
 * It is the connection's, so whatever else uses the connection meanwhile is in it
 * too; give such transactions a connection of their own.
 */
export function sqliteTx(db: SqliteDatabase): Tx {
  return {
    dialect: "sqlite",
    native: db,
    execute: async (sql, params) => Promise.resolve(Number(db.prepare(sql).run(...params).changes)),
    query: async (sql, params) => Promise.resolve(db.prepare(sql).all(...params) as Row[]),
  };
}

/**
 * A connection of better-sqlite3, best with a busy timeout and one that nothing
 * else uses. Transactions of one Db come one after the other.
 */
export function sqlite<D extends SqliteDatabase>(db: D): Db<D> {
  const inTurn = serial();
  const transaction = async <T>(fn: (native: D, tx: Tx) => Promise<T>): Promise<T> => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = await fn(db, sqliteTx(db));
      db.exec("COMMIT");
      return result;
    } catch (err) {
      try {
        db.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself.
      }
      throw err;
    }
  };
  return { dialect: "sqlite", transaction: (fn) => inTurn(() => transaction(fn)) };
}
