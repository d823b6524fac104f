import { Inject, Injectable } from "@nestjs/common";
import { DiscoveryService, MetadataScanner } from "@nestjs/core";
import { type Declared, SCHEDULED } from "./scheduled.js";

type Wrapper = ReturnType<DiscoveryService["getProviders"]>[number];

/** A method that does the work of a schedule, and who has it. */
export interface Found extends Declared {
  wrapper: Wrapper;
  method: string;
  /** For people: "InvoiceService.send in BillingModule". */
  where: string;
  /** There is one for each occurrence. */
  scoped: boolean;
}

/** Finds the methods with @Scheduled. */
@Injectable()
export class Explorer {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
  ) {}

  /** Errors: two methods with one schedule; a method that nothing could call. */
  explore(): Found[] {
    const found = new Map<string, Found>();
    const seen = new Set<unknown>(); // two providers may share a value
    for (const [wrappers, controllers] of [[this.discovery.getProviders(), false], [this.discovery.getControllers(), true]] as const) {
      for (const wrapper of wrappers) {
        if (wrapper.isAlias || seen.has(wrapper.instance)) continue;
        for (const f of this.methodsOf(wrapper)) {
          if (f.disabled) continue;
          if (f.scoped && controllers) throw new Error(`@Scheduled on ${f.where}: a request-scoped controller cannot have it; move the method to a provider`);
          const other = found.get(f.definition.id);
          if (other !== undefined) throw new Error(twice(f, other));
          found.set(f.definition.id, f);
          seen.add(wrapper.instance);
        }
      }
    }
    return [...found.values()];
  }

  private methodsOf(wrapper: Wrapper): Found[] {
    const instance = wrapper.instance as unknown;
    const prototype = (typeof instance === "object" && instance !== null ? Object.getPrototypeOf(instance) : undefined) as object | null | undefined;
    if (!prototype || prototype === Object.prototype) return [];
    const scoped = !wrapper.isDependencyTreeStatic() || wrapper.isTransient;
    return this.scanner.getAllMethodNames(prototype).flatMap((method) => {
      const code = (prototype as Record<string, object>)[method];
      const declared = code === undefined ? undefined : (Reflect.getMetadata(SCHEDULED, code) as Declared[] | undefined);
      const where = `${prototype.constructor.name}.${method}${wrapper.host === undefined ? "" : ` in ${wrapper.host.name}`}`;
      return (declared ?? []).map((d) => ({ ...d, wrapper, method, where, scoped }));
    });
  }
}

function twice(a: Found, b: Found): string {
  const what = `the schedule ${JSON.stringify(a.definition.id)} is declared twice: by ${b.where}, and by ${a.where}`;
  return a.wrapper.metatype === b.wrapper.metatype ? `${what}. Provide the class in one module and import that one in the other` : `${what}. Each schedule needs an id of its own`;
}
