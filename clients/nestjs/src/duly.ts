import { type api, Client, type Db, external, type ExternalCall, once, type Outcome, perform, type Tx } from "@duly/client";
import type { DulyModuleOptions } from "./options.js";

/**
 * The server, for providers to inject: schedules, occurrences and leases as the
 * Client has them, and effects under the grant of the handler that is being called,
 * however deep below it the code is.
 */
export class Duly extends Client {
  constructor(options: DulyModuleOptions = {}) {
    super(options);
  }

  /** Asks for an occurrence now; with a period, for that one's. */
  trigger(schedule: string, request: api.TriggerRequest = {}): Promise<api.TriggerResult> {
    return this.schedules.trigger(schedule, request);
  }

  /** Nothing of it becomes due until it is resumed. */
  pause(schedule: string, request: api.PauseRequest = {}): Promise<api.ScheduleStatus> {
    return this.schedules.pause(schedule, request);
  }

  resume(schedule: string, request: api.ResumeRequest = {}): Promise<api.ScheduleStatus> {
    return this.schedules.resume(schedule, request);
  }

  /** See the function once of @duly/client: an effect in a transaction of yours. */
  once<T>(tx: Tx, key: string, fn: () => Promise<T> | T): Promise<Outcome<T>> {
    return once(tx, key, fn);
  }

  /** See the function perform of @duly/client: an effect in a transaction of its own. */
  perform<T, X>(db: Db<X>, key: string, fn: (tx: X) => Promise<T> | T): Promise<Outcome<T>> {
    return perform(db, key, fn);
  }

  /** See the function external of @duly/client: an effect that no transaction takes back. */
  external<T, X>(db: Db<X>, key: string, call: ExternalCall<T>): Promise<Outcome<T>> {
    return external(db, key, call);
  }
}
