import type { InjectionToken } from "@nestjs/common";
import type { api, ClientOptions, WorkerOptions } from "@duly/client";

/** What a Nest application says of its node. */
export interface DulyModuleOptions extends ClientOptions, Omit<WorkerOptions, "signals" | "logger"> {
  /**
   * `work`: this process does what is due. Default.
   * `observe`: it declares its schedules and records what it would have done, and
   * never calls a handler; each occurrence succeeds with the result `{ observed: true, … }`.
   * `off`: it neither declares nor works; the `Duly` service can still ask the server.
   * For tests, and for processes that only trigger.
   */
  mode?: Mode;
  /** What every schedule of this application says unless it says otherwise: `{ timezone: "Europe/Berlin" }`. */
  defaults?: ScheduleDefaults;
}

export type Mode = "work" | "observe" | "off";

/** What schedules can have in common. */
export type ScheduleDefaults = Omit<api.Schedule, "id" | "target" | "cron" | "every" | "anchor" | "at" | "rrule" | "timings">;

/** The injection token of the options. */
export const DULY_OPTIONS: InjectionToken<DulyModuleOptions> = Symbol.for("duly.nestjs.options");

const known: Record<keyof DulyModuleOptions, true> = {
  url: true, token: true, actor: true, fetch: true, name: true, app: true, version: true, slots: true, drainTime: true,
  cancelGrace: true, sessionTtl: true, pollWait: true, mode: true, defaults: true,
};

/** What is wrong with options shows when the application boots, not when work is due. */
export function checkOptions(options: DulyModuleOptions): void {
  for (const name of Object.keys(options)) {
    if (!(name in known)) throw new Error(`DulyModule: there is no option ${JSON.stringify(name)}; there are ${Object.keys(known).join(", ")}`);
  }
  const mode = options.mode ?? "work";
  if (!["work", "observe", "off"].includes(mode)) throw new Error(`DulyModule: mode ${JSON.stringify(mode)} is none of work, observe and off`);
}
