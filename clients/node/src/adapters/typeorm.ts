import { DulyError } from "../errors.js";
import { serial } from "../effect/serial.js";
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

/** A DataSource of TypeORM. One of SQLite has one connection, so its transactions come one after the other. */
export function typeorm<X extends TypeormManager>(dialect: Dialect, source: TypeormSource<X>): Db<X> {
  const begin = <T>(fn: (native: X, tx: Tx) => Promise<T>) => source.transaction((manager) => fn(manager, typeormTx(dialect, manager)));
  const inTurn = serial();
  return { dialect, transaction: dialect === "sqlite" ? (fn) => inTurn(() => begin(fn)) : begin };
}

/** The part of a DataSource that is used here. */
export interface TypeormSource<X> {
  readonly manager: X;
  transaction<T>(fn: (manager: X) => Promise<T>): Promise<T>;
}
