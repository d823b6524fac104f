import { DulyError } from "../errors.js";
import { explain, faultOf } from "./fault.js";
import { latest, num, type Row, sqlNow, text, type Tx, type Value } from "./sql.js";
import type { Effect, Work } from "./work.js";

/** started: intended, and perhaps done. uncertain: nobody can tell but a person. */
export type State = "started" | "done" | "uncertain";

/** An effect as the ledger holds it. Times are microseconds by the database's clock, 0 for none. */
export interface Entry {
  state: State;
  claim: string;
  result: string | undefined;
  occurrence: string;
  attempt: number;
  token: number;
  createdAt: number;
  claimUntil: number;
  calls: number;
  now: number;
}

/** What the row of an external effect says besides. */
export interface Intent {
  /** ms */
  claimFor: number;
  idempotencyKey: string;
}

/** In duly_batches the effects of a batch stand in parts of 32. */
const partShift = 5;

/** A BIGINT that a number of JavaScript may not hold, as text. */
const asText = { postgres: (c: string) => `${c}::text`, mysql: (c: string) => `CAST(${c} AS CHAR)`, sqlite: (c: string) => `CAST(${c} AS TEXT)` };

/** Makes a row in state started, or answers the one that exists. It waits for a transaction that has inserted the same key and not yet ended. */
export async function insert(tx: Tx, w: Work, e: Effect, intent?: Intent): Promise<Entry | undefined> {
  const now = sqlNow[tx.dialect];
  let columns = "business_key, whole_key, state, occurrence, attempt, token, resource, claim, created_at";
  let values = `?, ?, 'started', ?, ?, ?, ?, ?, ${now}`;
  const params: Value[] = [e.column, e.whole, w.occurrence, w.grant.attempt, w.grant.token, w.resource, w.claim];
  if (intent !== undefined) {
    columns += ", claim_until, calls, idempotency_key";
    values += `, ${now} + ?, 1, ?`;
    params.push(Math.round(intent.claimFor * 1000), intent.idempotencyKey);
  }
  let sql = `INSERT INTO duly_effects (${columns}) VALUES (${values})`;
  if (tx.dialect !== "mysql") sql += " ON CONFLICT (business_key) DO NOTHING"; // where a failed statement takes nothing else along
  for (let i = 0; i < 3; i++) {
    try {
      if ((await tx.execute(sql, params)) === 1) return undefined;
    } catch (err) {
      if (faultOf(tx.dialect, err) !== "duplicate") throw explain(tx.dialect, e.name, err);
    }
    // The row that was in the way can be gone when we come to read it.
    const found = await read(tx, e, latest(tx.dialect));
    if (found !== undefined) return found;
  }
  throw new DulyError("unavailable", `${e.name} comes and goes; try again`);
}

/** Finds a key's row. `hold` is "", latest or forUpdate. */
export async function read(tx: Tx, e: Effect, hold: string): Promise<Entry | undefined> {
  const sql = `SELECT state, ${asText[tx.dialect]("claim")} AS claim_text, item, result, occurrence, attempt, token, created_at, claim_until, calls, ${sqlNow[tx.dialect]} AS db_now
    FROM duly_effects WHERE business_key = ?${hold}`;
  try {
    const [row] = await tx.query(sql, [e.column]);
    if (row === undefined) return undefined;
    const entry = entryOf(row);
    return row["item"] === null ? entry : await ofBatch(tx, e, entry, num(row["item"]));
  } catch (err) {
    throw explain(tx.dialect, e.name, err);
  }
}

function entryOf(row: Row): Entry {
  return {
    state: text(row["state"]) as State,
    claim: text(row["claim_text"]) ?? "",
    result: text(row["result"]),
    occurrence: text(row["occurrence"]) ?? "",
    attempt: num(row["attempt"]),
    token: num(row["token"]),
    createdAt: num(row["created_at"]),
    claimUntil: num(row["claim_until"]),
    calls: num(row["calls"]),
    now: num(row["db_now"]),
  };
}

/** Completes an entry that is of a batch, as the Go package makes them. */
async function ofBatch(tx: Tx, e: Effect, entry: Entry, item: number): Promise<Entry> {
  if (!/^[0-9]+$/.test(entry.claim)) throw new DulyError("internal", `${e.name} has a broken claim`);
  // The claim stands in the statement, since not every driver can send a number that large.
  const [part] = await tx.query(
    `SELECT results, occurrence, attempt, token, created_at FROM duly_batches WHERE claim = ${entry.claim} AND part = ?${latest(tx.dialect)}`, [item >> partShift]);
  if (part === undefined) throw new DulyError("internal", `${e.name} is of a batch that duly_batches does not hold`);
  const results = text(part["results"]);
  const own = results === undefined ? undefined : (JSON.parse(results) as unknown[])[item % (1 << partShift)];
  return {
    ...entry,
    result: own === undefined ? undefined : JSON.stringify(own),
    occurrence: text(part["occurrence"]) ?? "", attempt: num(part["attempt"]), token: num(part["token"]), createdAt: num(part["created_at"]),
  };
}

/** Stores the result of a row that this call has claimed; false where it no longer has. */
export async function complete(tx: Tx, w: Work, e: Effect, result: string | null): Promise<boolean> {
  return (await change(tx, e, `UPDATE duly_effects SET state = 'done', result = ?, finished_at = CASE WHEN calls IS NULL THEN NULL ELSE ${sqlNow[tx.dialect]} END
    WHERE business_key = ? AND claim = ? AND state <> 'done'`, [result, e.column, w.claim])) === 1;
}

/** One of our own statements about an effect. */
export async function change(tx: Tx, e: Effect, sql: string, params: Value[]): Promise<number> {
  try {
    return await tx.execute(sql, params);
  } catch (err) {
    throw explain(tx.dialect, e.name, err);
  }
}
