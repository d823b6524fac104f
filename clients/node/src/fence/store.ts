import { inTx } from "../effect/intx.js";
import type { Db } from "../effect/sql.js";
import { DulyError } from "../errors.js";
import { checkFence, guard } from "./check.js";

/** Remembers the greatest token seen for each resource. */
export interface FenceStore {
  /** Makes token the greatest one seen, or fails with stale_token where a greater one was seen. */
  raise(resource: string, token: number): Promise<void>;
}

/** A store in the application's database, in the table that effects use too. Each raise is a transaction of its own. */
export function sqlFence<X>(db: Db<X>): FenceStore {
  return { raise: (resource, token) => inTx(db, (tx) => checkFence(tx, resource, token)) };
}

/** A store in this process. It starts from nothing whenever the process does, and knows nothing of other processes. */
export class MemoryFence implements FenceStore {
  private readonly seen = new Map<string, number>();

  async raise(resource: string, token: number): Promise<void> {
    if (resource === "") throw new DulyError("invalid", "is missing", { field: "resource" });
    guard(this.seen.get(resource) ?? 0, token);
    this.seen.set(resource, token);
    return Promise.resolve();
  }
}
