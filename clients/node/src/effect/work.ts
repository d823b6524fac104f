import { randomInt } from "node:crypto";
import { DulyError } from "../errors.js";
import { checkFence } from "../fence/check.js";
import type { EffectReport } from "../generated/api.js";
import { context, currentGrant, type Grant } from "../grant.js";
import { keyColumns, printable } from "./name.js";
import type { Tx } from "./sql.js";

/** How long a business key may be, in bytes. */
const maxKey = 4096;
/** How long one may be for history to have the whole of it. */
const maxTold = 1000;
const digested = /^.{128}~#[0-9a-f]{64}$/s;
/** What the narrow columns of the ledger hold. */
const maxColumn = 700;

const nobody: Grant = { occurrence: "", attempt: 0, token: 0, resource: "" };

/** Who works, in one call of an effect. */
export class Work {
  readonly grant: Grant;
  readonly owned: boolean;
  /** The grant's, as the ledger writes them. */
  readonly occurrence: string;
  readonly resource: string;
  /** Names this try in the rows that it makes. */
  claim = 0;
  /** The tries before: where the answer to a commit was lost, one of those has made what this one finds. */
  private readonly earlier = new Set<string>();

  constructor() {
    this.grant = currentGrant() ?? nobody;
    this.owned = this.grant.resource !== "";
    if (!this.owned && context().unowned !== true) {
      throw new DulyError("invalid", "no grant is in force, so nothing fences this effect: call it from a handler, within withGrant, or within unowned where no lease owns this code");
    }
    this.occurrence = column("occurrence", this.grant.occurrence);
    this.resource = column("resource", this.grant.resource);
    this.again();
  }

  /** Begins another try. */
  again(): void {
    this.claim = randomInt(1, 2 ** 26) * 2 ** 22 + randomInt(2 ** 22); // exact as a number, in every driver
    this.earlier.add(String(this.claim));
  }

  /** Whether this call has made a row, in whichever try. */
  made(claim: string): boolean {
    return this.earlier.has(claim);
  }

  /** Raises the resource's token, and holds it until the transaction ends. */
  async fence(tx: Tx): Promise<void> {
    if (this.owned) await checkFence(tx, this.grant.resource, this.grant.token);
  }

  record(effect: EffectReport): void {
    // History has a key of more than 1000 bytes by what the ledger finds it by.
    const long = Buffer.byteLength(effect.key) > maxTold;
    this.grant.record?.(long ? { ...effect, key: keyColumns(effect.key).column } : effect);
  }
}

function column(field: string, name: string): string {
  const text = printable(name);
  if (text.length > maxColumn) throw new DulyError("invalid", `is ${text.length} bytes long; at most ${maxColumn} are allowed`, { field: `grant.${field}` });
  return text;
}

/** One business key. */
export class Effect {
  readonly column: string;
  readonly whole: string | null;

  constructor(readonly key: string) {
    if (key === "") throw new DulyError("invalid", 'is missing: a business key names the effect, such as "invoice/42/2026-11"', { field: "key" });
    const bytes = Buffer.byteLength(key);
    if (bytes > maxKey) throw new DulyError("invalid", `is ${bytes} bytes long; at most ${maxKey} are allowed`, { field: "key" });
    // In this form history names a longer key: deciding about one of the two would decide about the other.
    if (digested.test(key)) throw new DulyError("invalid", "has the form in which history names a longer key; give the whole of that, or another one", { field: "key" });
    ({ column: this.column, whole: this.whole } = keyColumns(key));
  }

  /** The key in messages: readable and short. */
  get name(): string {
    const text = printable(this.key);
    return `effect ${text.length > 100 ? `${text.slice(0, 100)}…` : text}`;
  }
}
