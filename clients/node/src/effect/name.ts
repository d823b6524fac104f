import { createHash } from "node:crypto";

// A business key or a resource may hold any text and be 4 KB long, while
// databases fold case, ignore trailing spaces, change character sets, refuse NUL
// or cannot index that much. So a name is written in printable ASCII, and one
// that is too long for an index is found by its digest. The Go package effect
// writes the same.

/** How long a printable name may be to be its own key. */
const maxIndexed = 190;
/** How much of a longer one stays readable. */
const kept = 128;

/** What a name is found by, and the whole of it where that is longer. */
export function keyColumns(name: string): { column: string; whole: string | null } {
  const text = printable(name);
  if (text.length <= maxIndexed) return { column: text, whole: null };
  return { column: `${text.slice(0, kept)}~#${createHash("sha256").update(name).digest("hex")}`, whole: text };
}

/** A name in printable ASCII: everything else, the backslash and a space at the end are escaped as in Go. */
export function printable(name: string): string {
  if (/^[\x20-\x5b\x5d-\x7e]*$/.test(name) && !name.endsWith(" ")) return name;
  let out = "";
  for (const c of name) out += escaped(c);
  return out.endsWith(" ") ? `${out.slice(0, -1)}\\x20` : out;
}

const short: Record<string, string> = {
  "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
};

function escaped(c: string): string {
  let code = c.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd; // half a character, which UTF-8 has no form for
  const known = short[c];
  if (known !== undefined) return known;
  if (code >= 0x20 && code < 0x7f) return c;
  const hex = code.toString(16);
  if (code <= 0x7f) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/**
 * What a provider is given for a business key: a UUID made of it and of nothing
 * else, the same in every attempt, on every node and in every language.
 */
export function idempotencyKey(key: string): string {
  const sum = createHash("sha256").update(`duly idempotency key\n${key}`).digest();
  sum[6] = ((sum[6] ?? 0) & 0x0f) | 0x80; // version 8: made by a rule of our own
  sum[8] = ((sum[8] ?? 0) & 0x3f) | 0x80;
  const hex = sum.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** JSON that every database stores unchanged: all that is not ASCII is escaped. Undefined has nothing to store. */
export function json(value: unknown): string | null {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : ascii(text);
}

export const ascii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
