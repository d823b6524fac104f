import type { Db, Dialect, Row, Tx } from "../effect/sql.js";

/** Drizzle's `sql`, which the application passes on, so that this package loads no Drizzle of its own. */
export type DrizzleSql<Q> = (strings: TemplateStringsArray, ...params: unknown[]) => Q;

/** The part of Drizzle that is used here: a transaction of PostgreSQL or MySQL has execute, one of SQLite run and all. */
export interface DrizzleTransaction {
  execute?(query: never): PromiseLike<unknown>;
  run?(query: never): unknown;
  all?(query: never): unknown;
}

/** A transaction of Drizzle. better-sqlite3's are synchronous and cannot be used; a libSQL one can. */
export function drizzleTx<Q>(dialect: Dialect, tx: DrizzleTransaction, sql: DrizzleSql<Q>): Tx {
  const ask = async (how: "run" | "all", text: string, params: readonly unknown[]) => {
    const query = statement(sql, text, params) as never;
    return dialect === "sqlite" ? tx[how]?.(query) : tx.execute?.(query);
  };
  return {
    dialect,
    native: tx,
    execute: async (text, params) => changed(dialect, await ask("run", text, params)),
    query: async (text, params) => rows(dialect, await ask("all", text, params)),
  };
}

/** A database of Drizzle. */
export function drizzle<X extends DrizzleTransaction, Q>(
  dialect: Dialect,
  db: { transaction<T>(fn: (tx: X) => Promise<T>): Promise<T> },
  sql: DrizzleSql<Q>,
): Db<X> {
  return { dialect, transaction: (fn) => db.transaction((tx) => fn(tx, drizzleTx(dialect, tx, sql))) };
}

/** What sql`…` makes of a statement with parameters. */
function statement<Q>(sql: DrizzleSql<Q>, text: string, params: readonly unknown[]): Q {
  const strings = text.split("?");
  return sql(Object.assign(strings, { raw: strings }), ...params);
}

function changed(dialect: Dialect, answer: unknown): number {
  switch (dialect) {
    case "postgres": {
      const { rowCount, count } = answer as { rowCount?: number | null; count?: number }; // node-postgres; postgres.js
      return rowCount ?? count ?? 0;
    }
    case "mysql":
      return (answer as [{ affectedRows: number }])[0].affectedRows;
    case "sqlite":
      return (answer as { rowsAffected?: number }).rowsAffected ?? 0;
  }
}

function rows(dialect: Dialect, answer: unknown): Row[] {
  switch (dialect) {
    case "postgres":
      return Array.isArray(answer) ? (answer as Row[]) : (answer as { rows: Row[] }).rows;
    case "mysql":
      return (answer as [Row[]])[0];
    case "sqlite":
      return answer as Row[];
  }
}
