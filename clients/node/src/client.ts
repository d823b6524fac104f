import type * as api from "./generated/api.js";
import { acquire, type Lease, type LeaseOptions, withLease } from "./lease.js";
import { type ClientOptions, segment, Transport } from "./transport.js";
import { Worker, type WorkerOptions } from "./worker/worker.js";

type Operations = api.operations;
/** The query of an operation of the API. */
export type Query<O extends keyof Operations> = NonNullable<Operations[O]["parameters"]["query"]>;

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** Asks for the next page; absent on the last one. */
  next_cursor?: string;
}

const v1 = "/api/v1";

/**
 * A server of Duly. Names of data are those on the wire, and what they mean is
 * in the OpenAPI document that the server serves at /openapi.json.
 */
export class Client {
  readonly schedules: Schedules;
  readonly occurrences: Occurrences;
  readonly transport: Transport;

  constructor(options: ClientOptions = {}) {
    this.transport = new Transport(options);
    this.schedules = new Schedules(this.transport);
    this.occurrences = new Occurrences(this.transport);
  }

  /** A worker does what is due, with the handlers of this program. */
  worker(options: WorkerOptions = {}): Worker {
    return new Worker(this.transport, options);
  }

  /** Takes a named lease and keeps it renewed. Errors: conflict, where somebody else holds it. */
  lease(name: string, options: LeaseOptions = {}): Promise<Lease> {
    return acquire(this.transport, name, options);
  }

  /** Calls fn while it holds the lease; fn should stop when the lease's signal says that it is lost. */
  withLease<T>(name: string, options: LeaseOptions, fn: (lease: Lease) => Promise<T> | T): Promise<T> {
    return withLease(this.transport, name, options, fn);
  }

  apply(request: api.ApplyRequest): Promise<api.Changes> {
    return this.transport.request("POST", `${v1}/apply`, { body: request });
  }

  simulate(request: api.SimulateRequest): Promise<api.SimulateResult> {
    return this.transport.request("POST", `${v1}/simulate`, { body: request });
  }

  stats(): Promise<api.Stats> {
    return this.transport.request("GET", `${v1}/stats`);
  }

  effects(query: Query<"listEffects"> = {}): Promise<Page<api.EffectStatus>> {
    return this.transport.request("GET", `${v1}/effects`, { query });
  }

  nodes(): Promise<Page<api.Node>> {
    return this.transport.request("GET", `${v1}/nodes`);
  }

  queues(): Promise<Page<api.QueueStatus>> {
    return this.transport.request("GET", `${v1}/queues`);
  }

  leases(): Promise<Page<api.Lease>> {
    return this.transport.request("GET", `${v1}/leases`);
  }

  audit(query: Query<"listAudit"> = {}): Promise<Page<api.AuditRow>> {
    return this.transport.request("GET", `${v1}/audit`, { query });
  }
}

/** Walks a list page by page. */
export async function* all<T>(page: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const answer = await page(cursor);
    yield* answer.items;
    cursor = answer.next_cursor || undefined;
  } while (cursor !== undefined);
}

export class Schedules {
  constructor(private readonly transport: Transport) {}

  list(query: Query<"listSchedules"> = {}): Promise<Page<api.ScheduleStatus>> {
    return this.transport.request("GET", `${v1}/schedules`, { query });
  }

  get(id: string): Promise<api.ScheduleStatus> {
    return this.transport.request("GET", this.path(id));
  }

  put(id: string, definition: api.Schedule, query: Query<"putSchedule"> = {}): Promise<api.ScheduleStatus> {
    return this.transport.request("PUT", this.path(id), { query, body: definition });
  }

  delete(id: string): Promise<void> {
    return this.transport.request("DELETE", this.path(id));
  }

  /** Asks for an occurrence now. */
  trigger(id: string, request: api.TriggerRequest = {}): Promise<api.TriggerResult> {
    return this.transport.request("POST", this.path(id, "trigger"), { body: request });
  }

  pause(id: string, request: api.PauseRequest = {}): Promise<api.ScheduleStatus> {
    return this.transport.request("POST", this.path(id, "pause"), { body: request });
  }

  resume(id: string, request: api.ResumeRequest = {}): Promise<api.ScheduleStatus> {
    return this.transport.request("POST", this.path(id, "resume"), { body: request });
  }

  backfill(id: string, request: api.BackfillRequest): Promise<api.BackfillResult> {
    return this.transport.request("POST", this.path(id, "backfill"), { body: request });
  }

  /** When it is due next. */
  upcoming(id: string, query: Query<"listUpcoming"> = {}): Promise<Page<api.Upcoming>> {
    return this.transport.request("GET", this.path(id, "upcoming"), { query });
  }

  private path(id: string, action?: string): string {
    return `${v1}/schedules/${segment(id)}${action === undefined ? "" : `/${action}`}`;
  }
}

export class Occurrences {
  constructor(private readonly transport: Transport) {}

  list(query: Query<"listOccurrences"> = {}): Promise<Page<api.Occurrence>> {
    return this.transport.request("GET", `${v1}/occurrences`, { query });
  }

  get(id: string): Promise<api.Occurrence> {
    return this.transport.request("GET", this.path(id));
  }

  /** Another attempt at one that has ended. */
  retry(id: string, why?: string): Promise<api.Occurrence> {
    return this.transport.request("POST", this.path(id, "retry"), { body: { why } });
  }

  cancel(id: string, why?: string): Promise<api.Occurrence> {
    return this.transport.request("POST", this.path(id, "cancel"), { body: { why } });
  }

  /** Says what became of an uncertain one. */
  resolve(id: string, request: api.ResolveRequest): Promise<api.Occurrence> {
    return this.transport.request("POST", this.path(id, "resolve"), { body: request });
  }

  private path(id: string, action?: string): string {
    return `${v1}/occurrences/${segment(id)}${action === undefined ? "" : `/${action}`}`;
  }
}
