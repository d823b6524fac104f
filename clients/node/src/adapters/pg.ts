import { type Db, numbered, type Row, type Tx } from "../effect/sql.js";

/** The part of pg that is used here: a Client or PoolClient. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

export interface PgPool {
  connect(): Promise<PgClient & { release(err?: Error | boolean): void }>;
}

/** What a pool calls its clients; its connect may take a callback too. */
export type PgClientOf<P extends PgPool> = P extends { connect: { (): Promise<infer C>; (callback: never): unknown } } ? C : Awaited<ReturnType<P["connect"]>>;

/** A transaction that the application has begun on a client of pg. */
export function pgTx(client: PgClient): Tx {
  return {
    dialect: "postgres",
    native: client,
    execute: async (sql, params) => (await client.query(numbered(sql), [...params])).rowCount ?? 0,
    query: async (sql, params) => (await client.query(numbered(sql), [...params])).rows as Row[],
  };
}

/** A pool of pg. */
export function pg<P extends PgPool>(pool: P): Db<PgClientOf<P>> {
  return {
    dialect: "postgres",
    transaction: async (fn) => {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        try {
          const result = await fn(client as PgClientOf<P>, pgTx(client));
          await client.query("COMMIT");
          return result;
        } catch (err) {
          // A client that cannot roll back is not used again.
          await client.query("ROLLBACK").catch((e: unknown) => (broken = e as Error));
          throw err;
        }
      } finally {
        client.release(broken);
      }
    },
  };
}
