import { type Db, type Dialect, rebind, type Row, type Tx } from "../effect/sql.js";

/** The part of Kysely that is used here: a Transaction. */
export interface KyselyTransaction {
  executeQuery(query: never): Promise<{ rows: unknown[]; numAffectedRows?: bigint }>;
}

/** A transaction of Kysely. */
export function kyselyTx(dialect: Dialect, trx: KyselyTransaction): Tx {
  const run = (sql: string, params: readonly unknown[]) => trx.executeQuery(compiled(rebind(dialect, sql), params) as never);
  return {
    dialect,
    native: trx,
    execute: async (sql, params) => Number((await run(sql, params)).numAffectedRows ?? 0n),
    query: async (sql, params) => (await run(sql, params)).rows as Row[],
  };
}

/** A database of Kysely. */
export function kysely<X extends KyselyTransaction>(
  dialect: Dialect,
  db: { transaction(): { execute<T>(fn: (trx: X) => Promise<T>): Promise<T> } },
): Db<X> {
  return { dialect, transaction: (fn) => db.transaction().execute((trx) => fn(trx, kyselyTx(dialect, trx))) };
}

/** What CompiledQuery.raw of Kysely makes. */
function compiled(sql: string, parameters: readonly unknown[]) {
  return { sql, parameters, query: { kind: "RawNode", sqlFragments: [sql], parameters: [] }, queryId: { queryId: "duly" } };
}
