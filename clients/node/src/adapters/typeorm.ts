import { DulyError } from "../errors.js";
import { type Db, type Dialect, rebind, type Row, type Tx } from "../effect/sql.js";

/** The part of TypeORM that is used here: an EntityManager in a transaction. */
export interface TypeormManager {
  readonly queryRunner?: {
    query(sql: string, params: unknown[], structured: true): Promise<{ records: unknown[]; raw: unknown; affected?: number }>;
  };
}

/** The manager of a transaction of TypeORM. */
export function typeormTx(dialect: Dialect, manager: TypeormManager): Tx {
  const runner = manager.queryRunner;
  if (runner === undefined) throw new DulyError("invalid", "is in no transaction: take the manager that dataSource.transaction gives", { field: "manager" });
  const run = (sql: string, params: readonly unknown[]) => runner.query(rebind(dialect, sql), [...params], true);
  return {
    dialect,
    native: runner,
    execute: async (sql, params) => (await run(sql, params)).affected ?? 0,
    query: async (sql, params) => (await run(sql, params)).records as Row[],
  };
}

/** A DataSource of TypeORM. */
export function typeorm<X extends TypeormManager>(dialect: Dialect, source: { transaction<T>(fn: (manager: X) => Promise<T>): Promise<T> }): Db<X> {
  return { dialect, transaction: (fn) => source.transaction((manager) => fn(manager, typeormTx(dialect, manager))) };
}
