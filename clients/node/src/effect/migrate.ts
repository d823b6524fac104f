import { ddl } from "../generated/ddl.js";
import { sleep } from "../time.js";
import { inTx } from "./intx.js";
import type { Db, Dialect } from "./sql.js";

/** The SQL that creates the ledger's tables where they do not exist, for those who migrate by other means. */
export const ledgerDDL = (dialect: Dialect): string => ddl[dialect];

/**
 * Creates the ledger's tables where they do not exist. Where they do it changes
 * nothing and needs no right to create any, so every node may call it at its start.
 */
export async function migrate<X>(db: Db<X>): Promise<void> {
  for (let tries = 1; ; tries++) {
    if (await migrated(db)) return;
    try {
      await inTx(db, async (tx) => {
        for (const statement of statements(ddl[db.dialect])) await tx.execute(statement, []);
      }); return;
    } catch (err) {
      // Two nodes that create the same table at the same moment can be in each
      // other's way; whoever comes second finds it.
      if (tries === 5) throw err;
      await sleep(20 * tries);
    }
  }
}

const probes = [
  "SELECT business_key, item, idempotency_key, resolved_at FROM duly_effects WHERE 1 = 0",
  "SELECT claim, part, results, created_at FROM duly_batches WHERE 1 = 0",
  "SELECT resource, token, raised_at FROM duly_fences WHERE 1 = 0",
];

async function migrated<X>(db: Db<X>): Promise<boolean> {
  try {
    await inTx(db, async (tx) => {
      for (const probe of probes) await tx.query(probe, []);
    });
    return true;
  } catch {
    return false;
  }
}

/** Splits our own DDL, whose comments are the only other place where a semicolon may stand. */
export function statements(text: string): string[] {
  return text.replace(/--.*$/gm, "").split(";").map((s) => s.trim()).filter((s) => s !== "");
}
