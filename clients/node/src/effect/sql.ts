// The application's database as effects and fences see it: a transaction that the
// application began, or a way to begin one.

/** The kind of SQL that a database speaks. "mysql" is MariaDB's too. */
export type Dialect = "postgres" | "mysql" | "sqlite";

export type Row = Record<string, unknown>;

/** The application's own open transaction. The adapters make one; its methods are Duly's business. */
export interface Tx {
  readonly dialect: Dialect;
  /** What the application calls the transaction; it tells transactions apart. */
  readonly native: object;
  /** Answers how many rows a statement changed. Parameters are written as ?. */
  execute(sql: string, params: readonly Value[]): Promise<number>;
  query(sql: string, params: readonly Value[]): Promise<Row[]>;
}

export type Value = string | number | null;

/** Begins transactions. X is what the application calls one. */
export interface Db<X> {
  readonly dialect: Dialect;
  /** Calls fn in a transaction; commits when fn is settled, and rolls back where it failed. */
  transaction<T>(fn: (native: X, tx: Tx) => Promise<T>): Promise<T>;
}

/** Turns the ? of a statement into $1, $2 … Our statements hold no other question mark. */
export function numbered(sql: string): string {
  let n = 0;
  return sql.replace(/\?/g, () => `$${++n}`);
}

/** A statement as the dialect's drivers take it. */
export const rebind = (dialect: Dialect, sql: string): string => (dialect === "postgres" ? numbered(sql) : sql);

/** The database's clock: microseconds since 1970 in UTC, as of the moment. */
export const sqlNow: Record<Dialect, string> = {
  postgres: "(extract(epoch from clock_timestamp()) * 1000000)::bigint",
  mysql: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
  sqlite: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000",
};

/**
 * Ends a SELECT that must see what others have committed by now. MySQL would
 * otherwise answer as of the transaction's first read.
 */
export const latest = (d: Dialect): string => (d === "mysql" ? " LOCK IN SHARE MODE" : "");

/** Ends a SELECT of a row that nobody else may change until the transaction ends. */
export const forUpdate = (d: Dialect): string => (d === "sqlite" ? "" : " FOR UPDATE");

/** A number of a row, whatever the driver makes of a BIGINT; 0 for NULL. */
export const num = (v: unknown): number => (v === null || v === undefined ? 0 : Number(v));

/** A text of a row; undefined for NULL. */
export function text(v: unknown): string | undefined {
  if (v === null || v === undefined) return undefined;
  if (Buffer.isBuffer(v)) return v.toString("latin1");
  return typeof v === "string" ? v : `${v as number}`;
}
