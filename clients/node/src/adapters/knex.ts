import type { Db, Dialect, Row, Tx } from "../effect/sql.js";

/** The part of Knex that is used here. */
export interface KnexRaw {
  raw(sql: string, bindings: readonly (string | number | null)[]): PromiseLike<unknown>;
}

/** A transaction of Knex. */
export function knexTx(dialect: Dialect, trx: KnexRaw): Tx {
  return {
    dialect,
    native: trx,
    execute: async (sql, params) => changed(dialect, await trx.raw(sql, params)),
    query: async (sql, params) => rows(dialect, await trx.raw(sql, params)),
  };
}

/** A database of Knex. */
export function knex<X extends KnexRaw>(dialect: Dialect, db: { transaction<T>(fn: (trx: X) => Promise<T>): Promise<T> }): Db<X> {
  return { dialect, transaction: (fn) => db.transaction((trx) => fn(trx, knexTx(dialect, trx))) };
}

// Raw answers are those of the driver below.
function changed(dialect: Dialect, answer: unknown): number {
  switch (dialect) {
    case "postgres":
      return (answer as { rowCount: number | null }).rowCount ?? 0;
    case "mysql":
      return (answer as [{ affectedRows: number }])[0].affectedRows;
    case "sqlite":
      return (answer as { changes?: number }).changes ?? 0;
  }
}

function rows(dialect: Dialect, answer: unknown): Row[] {
  switch (dialect) {
    case "postgres":
      return (answer as { rows: Row[] }).rows;
    case "mysql":
      return (answer as [Row[]])[0];
    case "sqlite":
      return answer as Row[];
  }
}
