import { DulyError } from "./errors.js";

const units: Record<string, number> = {
  w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, "µs": 1e-3, "μs": 1e-3, ns: 1e-6,
};

/** Milliseconds of a duration on the wire: "30s", "1h30m", "7d". */
export function milliseconds(duration: string): number {
  let total = 0;
  const rest = duration.trim().replace(/([0-9]+\.?[0-9]*|\.[0-9]+)(ms|us|µs|μs|ns|[wdhms])/g, (_, n: string, unit: string) => {
    total += Number(n) * (units[unit] ?? NaN);
    return "";
  });
  if (duration.trim() === "" || (rest !== "" && rest !== "0")) {
    throw new DulyError("invalid", `${JSON.stringify(duration)} is not a duration: write a number and a unit, such as 30s, 15m, 2h, 7d`);
  }
  return total;
}

/** The duration on the wire of a number of milliseconds; a text is taken as it is. */
export function duration(of: number | string): string {
  if (typeof of === "string") return of;
  if (!Number.isFinite(of) || of < 0) throw new DulyError("invalid", `${of} is not a duration in milliseconds`);
  return `${Math.round(of)}ms`;
}

/** A length of time: milliseconds, or as on the wire ("30s"). */
export type Duration = number | string;

export function inMilliseconds(of: Duration): number {
  return typeof of === "number" ? of : milliseconds(of);
}
