import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common";
import { ModulesContainer } from "@nestjs/core";
import type { api, Handler, Worker } from "@duly/client";
import { Duly } from "./duly.js";
import { Explorer, type Found } from "./explorer.js";
import { Invoker } from "./invoke.js";
import { nestLogger } from "./logger.js";
import { DULY_OPTIONS, type DulyModuleOptions } from "./options.js";
import { openTelemetry, traced } from "./trace.js";

/** How long a boot waits for the server's word on the schedules. It goes on without one where the server is down. */
const bootWait = 5000;

/** The worker's life within that of the application. */
@Injectable()
export class Runtime implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly node: string;
  private readonly log = nestLogger();
  private found: Found[] = [];
  private worker: Worker | undefined;
  private joined = false;
  private failure: Error | undefined;

  constructor(
    @Inject(DULY_OPTIONS) readonly options: DulyModuleOptions,
    @Inject(Duly) private readonly duly: Duly,
    @Inject(Explorer) private readonly explorer: Explorer,
    @Inject(Invoker) private readonly invoker: Invoker,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    this.node = options.name ?? `${hostname()}-${process.pid}-${randomBytes(2).toString("hex")}`;
    hooksOfApplicationAround(modules, this);
  }

  onModuleInit(): void {
    this.found = this.mode === "off" ? [] : this.explorer.explore();
  }

  /** Errors: a schedule that the server finds faulty. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.found.length === 0) return;
    const otel = await openTelemetry();
    const worker = this.duly.worker({ ...this.options, name: this.node, logger: this.log });
    for (const f of this.found) {
      const definition = this.definition(f);
      const handler = this.mode === "observe" ? this.observing(f) : this.invoker.handler(f);
      worker.schedule(definition, otel === undefined ? handler : traced(otel, this.node, handler));
    }
    this.worker = worker;
    const running = worker.run().catch((err: unknown) => {
      this.fail(err as Error);
    });
    const joined = worker.ready().then(() => this.look(worker));
    await settledWithin(bootWait, Promise.race([joined, running]));
    if (this.failure === undefined) return;
    await worker.drain().catch(() => undefined);
    throw this.failure;
  }

  /** What runs ends before anything that it uses is closed. */
  async onModuleDestroy(): Promise<void> {
    await this.worker?.drain().catch(() => undefined); // its error was told when it happened
  }

  /** What this process knows of its own part. */
  get status(): RuntimeStatus {
    const schedules = this.found.map((f) => f.definition.id);
    const up = this.mode === "off" || this.found.length === 0 || (this.joined && this.failure === undefined && this.worker?.available === true);
    return { up, mode: this.mode, node: this.node, joined: this.joined, schedules, error: this.failure?.message };
  }

  private get mode() {
    return this.options.mode ?? "work";
  }

  private definition(f: Found): Found["definition"] {
    const definition = { ...this.options.defaults, ...f.definition };
    const host = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (f.zoneless && definition.timezone === undefined && !["UTC", "Etc/UTC", "Etc/UCT", "GMT"].includes(host)) {
      this.log.warn(`${f.where} names no timeZone: it follows UTC, where @Cron follows this host's ${host}`);
    }
    return definition;
  }

  /** Looks on: it says who would have done what, and leaves the rest to whatever does the work today. */
  private observing(f: Found): Handler {
    return (occ) => {
      occ.setResult({ observed: true, node: this.node, handler: f.where });
      this.log.info("observed: this node would have done it", { occurrence: occ.id, handler: f.where });
    };
  }

  /** What the server says of the schedules. */
  private look(worker: Worker): void {
    this.joined = worker.joined;
    const faults = worker.faults;
    if (faults.length > 0) this.fail(new Error(`the server refuses ${faults.map((fault) => this.told(fault)).join("; ")}`));
    if (this.joined && this.mode === "observe") this.log.warn("observing: schedules are declared, what is due is recorded, and no handler is called");
  }

  private told({ schedule, field, message }: api.DefinitionFault): string {
    const where = this.found.find((f) => f.definition.id === schedule)?.where;
    return `${JSON.stringify(schedule)}${where === undefined ? "" : ` (${where})`}: ${field ? `${field}: ` : ""}${message}`;
  }

  private fail(err: Error): void {
    this.failure = err;
    this.log.error(err.message);
  }
}

export interface RuntimeStatus {
  up: boolean;
  mode: string;
  node: string;
  joined: boolean;
  schedules: string[];
  error?: string;
}

/**
 * Nest starts modules from the leaves to the root, and stops them the other way round,
 * by their distance from it. Work begins when everything else has started and has to
 * end before anything else stops, so this module's place is above the root.
 */
function hooksOfApplicationAround(modules: ModulesContainer, self: Runtime): void {
  const own = [...modules.values()].filter((module) => module.providers.has(self.constructor as typeof Runtime));
  if (own.length > 1) throw new Error("DulyModule is set up twice: use forRoot or forRootAsync in one place, it is global");
  for (const module of own) module.distance = -1;
}

async function settledWithin(ms: number, what: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([what, late]);
  clearTimeout(timer);
}
