import { DulyError, chain } from "../errors.js";
import { sleep } from "../time.js";
import { explain, faultOf } from "./fault.js";
import type { Db, Tx } from "./sql.js";

// That is about three seconds in the worst case.
const maxTries = 10;
const firstPause = 5;
const maxPause = 800;

/**
 * Calls fn in a transaction and commits. A conflict with another transaction, and
 * a connection that was lost, begins it all anew, so fn must have no effect
 * outside the transaction. A commit whose answer was lost may have happened: fn
 * must recognise its own work when it is called again.
 */
export async function inTx<T, X>(db: Db<X>, fn: (tx: Tx, native: X) => Promise<T>): Promise<T> {
  let pause = firstPause;
  for (let attempt = 1; ; attempt++) {
    let committing = false;
    try {
      return await db.transaction(async (native, tx) => {
        committing = false;
        const result = await fn(tx, native);
        committing = true;
        return result;
      });
    } catch (err) {
      const fault = faultOf(db.dialect, err);
      const ours = [...chain(err)].some((e) => e instanceof DulyError);
      // A commit that failed without an answer of the database may have happened.
      const again = fault === "conflict" || fault === "lost" || (committing && fault === "other" && !ours);
      const explained = committing ? explain(db.dialect, "commit", err) : err;
      if (!again) throw explained;
      if (attempt === maxTries) {
        throw new DulyError("unavailable", `tried ${maxTries} times: ${err instanceof Error ? err.message : String(err)}`, { cause: explained });
      }
      await sleep(pause / 2 + Math.random() * pause);
      pause = Math.min(2 * pause, maxPause);
    }
  }
}
