import { createHash } from "node:crypto";
import { DulyError } from "../errors.js";
import { explain } from "./fault.js";
import type { Tx } from "./sql.js";
import type { Effect } from "./work.js";

/**
 * Calls fn in an open transaction, and takes back what it did where it fails. The
 * name is made of the key's, since in MySQL a second savepoint of the same name
 * would replace that of an effect around this one.
 */
export async function savepoint<T>(tx: Tx, e: Effect, fn: () => Promise<T>): Promise<T> {
  const name = `duly_${createHash("sha256").update(e.key).digest("hex").slice(0, 24)}`;
  await own(tx, e, `SAVEPOINT ${name}`);
  let result: T;
  try {
    result = await fn();
  } catch (err) {
    try {
      await tx.execute(`ROLLBACK TO SAVEPOINT ${name}`, []);
      await tx.execute(`RELEASE SAVEPOINT ${name}`, []);
    } catch (undo) {
      throw new DulyError("unavailable", `${e.name} failed and could not be taken back alone; roll the whole transaction back: ${String(undo)}`, { cause: err });
    }
    throw err;
  }
  await own(tx, e, `RELEASE SAVEPOINT ${name}`);
  return result;
}

async function own(tx: Tx, e: Effect, sql: string): Promise<void> {
  try {
    await tx.execute(sql, []);
  } catch (err) {
    throw explain(tx.dialect, e.name, err);
  }
}
