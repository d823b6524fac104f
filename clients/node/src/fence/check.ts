import { DulyError, StaleError } from "../errors.js";
import { explain } from "../effect/fault.js";
import { keyColumns, printable } from "../effect/name.js";
import { num, sqlNow, type Tx, type Value } from "../effect/sql.js";

/** The rule: a token that is smaller than the greatest one seen for its resource is refused. `seen` is 0 where there was none. */
export function guard(seen: number, token: number): void {
  if (!Number.isSafeInteger(token) || token < 1) throw new DulyError("invalid", `is ${token}; fencing tokens begin at 1`, { field: "token" });
  if (token < seen) {
    throw new StaleError(`fencing token ${token} is refused: this attempt has lost its ownership to the one with token ${seen}`);
  }
}

/**
 * Raises the greatest token seen for a resource, or fails with stale_token where a
 * greater one was seen. The row that says so stays held until the transaction
 * ends: shared, so that many transactions of one owner go on side by side, while
 * a new owner's first check waits for them.
 */
export async function checkFence(tx: Tx, resource: string, token: number): Promise<void> {
  if (resource === "") throw new DulyError("invalid", "is missing", { field: "resource" });
  guard(0, token);
  const { column } = keyColumns(resource);
  let seen: number;
  try {
    seen = await raise[tx.dialect](tx, column, token);
  } catch (err) {
    throw explain(tx.dialect, `fence ${printable(resource)}`, err);
  }
  guard(seen, token);
}

/** Each answers the greatest token seen, which is `token` at least. */
const raise = { postgres, mysql, sqlite };

/**
 * One statement both looks and raises. It must not hold the row of a token that
 * has yet to be raised before it raises it: two that did would wait for each other.
 */
async function postgres(tx: Tx, resource: string, token: number): Promise<number> {
  return one(tx, `WITH held AS (SELECT token FROM duly_fences WHERE resource = ? AND token >= ? FOR SHARE),
    raised AS (INSERT INTO duly_fences AS f (resource, token, raised_at) SELECT CAST(? AS text), CAST(? AS bigint), ${sqlNow.postgres} WHERE NOT EXISTS (SELECT 1 FROM held)
      ON CONFLICT (resource) DO UPDATE SET token = GREATEST(f.token, EXCLUDED.token), raised_at = EXCLUDED.raised_at RETURNING f.token)
    SELECT token FROM held UNION ALL SELECT token FROM raised`, [resource, token, resource, token]);
}

/**
 * MySQL holds every row that a locking read visits, so it is first asked without.
 * What it then answers may be old, and only decides what to do next.
 */
async function mysql(tx: Tx, resource: string, token: number): Promise<number> {
  if ((await one(tx, "SELECT token FROM duly_fences WHERE resource = ?", [resource])) < token) {
    await tx.execute(`INSERT INTO duly_fences (resource, token, raised_at) VALUES (?, ?, ${sqlNow.mysql})
      ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token)), raised_at = VALUES(raised_at)`, [resource, token]);
  }
  return one(tx, "SELECT token FROM duly_fences WHERE resource = ? LOCK IN SHARE MODE", [resource]);
}

/** SQLite has one writer at a time; writing first makes the transaction that writer before it reads. */
async function sqlite(tx: Tx, resource: string, token: number): Promise<number> {
  return one(tx, `INSERT INTO duly_fences (resource, token, raised_at) VALUES (?, ?, ${sqlNow.sqlite})
    ON CONFLICT (resource) DO UPDATE SET token = max(token, excluded.token),
      raised_at = CASE WHEN excluded.token > token THEN excluded.raised_at ELSE raised_at END
    RETURNING token`, [resource, token]);
}

/** A single number, 0 where there is no row. */
async function one(tx: Tx, sql: string, params: Value[]): Promise<number> {
  const [row] = await tx.query(sql, params);
  return num(row?.["token"]);
}
