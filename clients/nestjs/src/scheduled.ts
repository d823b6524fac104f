import "reflect-metadata";
import type { api } from "@duly/client";

/** A schedule whose work a provider's method does. Its fields are those of `duly.yaml`. */
export interface ScheduledOptions extends Omit<api.Schedule, "id" | "target"> {
  /** The stable name, whatever becomes of class and method. A renamed schedule is a new one. */
  id: string;
  /** This process has nothing to do with it: it neither declares nor does it. To stop it everywhere, pause it. */
  disabled?: boolean;
}

/** The options of `@Cron`, for a change of one line, and whatever else a schedule can say. */
export interface CronOptions extends Omit<ScheduledOptions, "id" | "timezone" | Timing> {
  /** The schedule's stable name: its id. */
  name: string;
  /** An IANA zone. Default: that of the module's defaults, else UTC. */
  timeZone?: string;
  /**
   * true: the next occurrence waits for this one, on whichever node it is, and none is
   * left out (`overlap: "wait"`, which is the default). false: they may overlap
   * (`overlap: "allow"`). To leave out what comes due meanwhile: `overlap: "skip"`.
   */
  waitForCompletion?: boolean;
}

/** A method that does the work of a schedule. */
export interface Declared {
  definition: Omit<api.Schedule, "target"> & { id: string };
  disabled: boolean;
  /** Written as @Cron is, without a zone: it was the host's there. */
  zoneless: boolean;
}

type Timing = "cron" | "every" | "anchor" | "at" | "rrule" | "timings";

/** Where a method's schedules are kept. */
export const SCHEDULED = "duly:scheduled";

/** Does the work of a schedule: on one of the nodes, once for each time that it is due. */
export function Scheduled(options: ScheduledOptions): MethodDecorator;
/** As `@Cron` is written: a cron expression, a `CronExpression`, or the one instant of a Date. */
export function Scheduled(cron: string | Date, options: CronOptions): MethodDecorator;
export function Scheduled(first: ScheduledOptions | string | Date, second?: CronOptions): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const where = `@Scheduled on ${target.constructor.name}.${String(key)}`;
    const declared = typeof first === "string" || first instanceof Date ? ofCron(where, first, second) : ofOptions(where, first);
    const method = descriptor.value as object;
    const before = (Reflect.getMetadata(SCHEDULED, method) ?? []) as Declared[];
    Reflect.defineMetadata(SCHEDULED, [...before, declared], method);
  };
}

function ofCron(where: string, time: string | Date, options: Partial<CronOptions> | undefined): Declared {
  const { name, timeZone, waitForCompletion, ...rest } = options ?? {};
  if (!name) {
    throw new Error(`${where}: the schedule needs a name that stays the same, whatever becomes of class and method: @Scheduled(${JSON.stringify(time)}, { name: "…" })`);
  }
  if (waitForCompletion !== undefined && rest.overlap !== undefined) throw new Error(`${where}: waitForCompletion and overlap say the same; keep one`);
  const declared = ofOptions(where, {
    ...(time instanceof Date ? { at: time.toISOString() } : { cron: time }),
    ...(waitForCompletion === undefined ? {} : { overlap: waitForCompletion ? "wait" : "allow" }),
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...rest, id: name,
  });
  return { ...declared, zoneless: timeZone === undefined && typeof time === "string" };
}

function ofOptions(where: string, { disabled, ...definition }: ScheduledOptions): Declared {
  for (const name of Object.keys(definition)) {
    if (!(name in known)) throw new Error(`${where}: there is no option ${JSON.stringify(name)}${hints[name] ?? ""}; there are disabled, ${Object.keys(known).join(", ")}`);
  }
  if (!definition.id) throw new Error(`${where}: the schedule needs an id that stays the same, whatever becomes of class and method: { id: "…" }`);
  if (!definition.cron && !definition.every && !definition.at && !definition.rrule && !definition.timings?.length && definition.external !== true) {
    throw new Error(`${where}: nothing says when ${JSON.stringify(definition.id)} is due: give it a cron expression, every, at, rrule or timings`);
  }
  return { definition, disabled: disabled ?? false, zoneless: false };
}

/** Every field of a definition that code can say; the compiler keeps it complete. */
const known: Record<keyof Omit<api.Schedule, "target">, true> = {
  id: true, description: true, cron: true, every: true, anchor: true, at: true, rrule: true, timings: true, except: true, external: true,
  timezone: true, dst: true, start: true, end: true, limit: true, jitter: true, start_deadline: true, period: true, period_offset: true,
  calendar: true, overlap: true, on_failure: true, catch_up: true, queue: true, priority: true, lease: true, timeout: true, retry: true,
  when_unavailable: true, payload: true,
};

/** What was meant, or what there is instead. */
const hints: Record<string, string> = {
  timeZone: ' (here it is "timezone")',
  name: ' (here it is "id")',
  waitForCompletion: ' (here it is overlap: "wait", and the default)',
  utcOffset: ' (a zone says it: timeZone: "Etc/GMT-1" is UTC+1, without clock changes)',
  unrefTimeout: " (no timer of this process keeps it alive)",
  threshold: " (nothing due is dropped for being late; start_deadline and catch_up say otherwise)",
  initialDelay: ' (say from when it is due: start: "2026-12-01T00:00:00Z")',
  target: " (the method is the target)",
};
