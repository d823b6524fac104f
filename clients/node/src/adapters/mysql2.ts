import type { Db, Row, Tx } from "../effect/sql.js";

/** The part of mysql2/promise that is used here: a Connection or PoolConnection. */
export interface MysqlConnection {
  query(sql: string, values?: unknown[]): Promise<[unknown, unknown]>;
}

export interface MysqlPool<C> {
  getConnection(): Promise<C>;
}

/** A transaction that the application has begun on a connection of mysql2/promise. */
export function mysqlTx(connection: MysqlConnection): Tx {
  return {
    dialect: "mysql",
    native: connection,
    execute: async (sql, params) => ((await connection.query(sql, [...params]))[0] as { affectedRows: number }).affectedRows,
    query: async (sql, params) => (await connection.query(sql, [...params]))[0] as Row[],
  };
}

/** A pool of mysql2/promise. */
export function mysql<C extends MysqlConnection & { release(): void; destroy(): void }>(pool: MysqlPool<C>): Db<C> {
  return {
    dialect: "mysql",
    transaction: async (fn) => {
      const connection = await pool.getConnection();
      let broken = false;
      try {
        await connection.query("START TRANSACTION");
        try {
          const result = await fn(connection, mysqlTx(connection));
          await connection.query("COMMIT");
          return result;
        } catch (err) {
          // A connection that cannot roll back is not used again.
          await connection.query("ROLLBACK").catch(() => (broken = true));
          throw err;
        }
      } finally {
        if (broken) connection.destroy();
        else connection.release();
      }
    },
  };
}
