import { type Db, type Dialect, rebind, type Row, type Tx } from "../effect/sql.js";

/** The part of Prisma that is used here: the client of an interactive transaction. */
export interface PrismaTransaction {
  $executeRawUnsafe(sql: string, ...params: unknown[]): PromiseLike<number>;
  $queryRawUnsafe(sql: string, ...params: unknown[]): PromiseLike<unknown>;
}

/** An interactive transaction of Prisma. */
export function prismaTx(dialect: Dialect, tx: PrismaTransaction): Tx {
  return {
    dialect,
    native: tx,
    // Every value is a parameter; the statements themselves are our own.
    execute: async (sql, params) => tx.$executeRawUnsafe(rebind(dialect, sql), ...params),
    query: async (sql, params) => (await tx.$queryRawUnsafe(rebind(dialect, sql), ...params)) as Row[],
  };
}

/** A client of Prisma. `options` are those of $transaction, such as its timeout. */
export function prisma<X extends PrismaTransaction, O>(
  dialect: Dialect,
  client: { $transaction<T>(fn: (tx: X) => Promise<T>, options?: O): Promise<T> },
  options?: O,
): Db<X> {
  return { dialect, transaction: (fn) => client.$transaction((tx) => fn(tx, prismaTx(dialect, tx)), options) };
}
