import { Inject, Injectable } from "@nestjs/common";
import { ContextIdFactory, ExternalContextCreator, ModuleRef } from "@nestjs/core";
import type { Handler, Occurrence } from "@duly/client";
import { isObservable, lastValueFrom } from "rxjs";
import type { Found } from "./explorer.js";
import { contextType } from "./params.js";

/** Where Nest's own decorators keep what they were given. */
const GUARDS = "__guards__";
const INTERCEPTORS = "__interceptors__";
const FILTERS = "__exceptionFilters__";
const PARAMETERS = "__routeArguments__";

type Call = (occurrence: Occurrence) => unknown;
type Instance = Record<string, Call>;
type ContextId = ReturnType<typeof ContextIdFactory.create>;

/**
 * Calls methods as Nest calls handlers. Guards, interceptors and filters take part
 * where the method or its class names some: those that an application has for its
 * requests must not decide by themselves whether its invoices are sent.
 */
@Injectable()
export class Invoker {
  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(ExternalContextCreator) private readonly contexts: ExternalContextCreator,
  ) {}

  /** Errors: enhancers that Nest could not find for the provider. */
  handler(f: Found): Handler {
    const instance = f.wrapper.instance as Instance;
    if (usesEnhancers(instance, f.method) && f.wrapper.token !== instance.constructor) {
      throw new Error(`@Scheduled on ${f.where}: guards, interceptors, filters and decorated parameters need a provider under its own class, not under ${String(f.wrapper.token)}`);
    }
    if (!f.scoped) return this.call(instance, f.method);
    return async (occurrence) => {
      const id = ContextIdFactory.create();
      this.moduleRef.registerRequestByContextId(occurrence, id); // what REQUEST injects
      const own = await this.moduleRef.resolve<Instance>(f.wrapper.token, id, { strict: false });
      return this.call(own, f.method, id)(occurrence);
    };
  }

  private call(instance: Instance, name: string, id?: ContextId): Call {
    const method = instance[name];
    if (method === undefined) throw new Error(`${instance.constructor.name} has no method ${name}`);
    if (!usesEnhancers(instance, name)) return async (occurrence) => settled(await method.call(instance, occurrence));
    const call = this.contexts.create(
      instance, method as (...args: unknown[]) => unknown, name, PARAMETERS, { exchangeKeyForValue: () => undefined }, id, undefined,
      { guards: names(GUARDS, instance, name), interceptors: names(INTERCEPTORS, instance, name), filters: false }, contextType,
    ) as Call;
    return names(FILTERS, instance, name) ? this.filtered(instance, name, call, id) : call;
  }

  /**
   * Filters see an error and may throw another one in its place, such as a permanent
   * one. They cannot make a success of it: what was not done is not recorded as done.
   */
  private filtered(instance: Instance, name: string, call: Call, id?: ContextId): Call {
    const rethrow = (_: Occurrence, err: unknown) => {
      throw err;
    };
    const method = instance[name] as object;
    for (const key of Reflect.getMetadataKeys(method) as unknown[]) Reflect.defineMetadata(key, Reflect.getMetadata(key, method), rethrow);
    const filter = this.contexts.create(
      instance, rethrow as (...args: unknown[]) => unknown, name, undefined, undefined, id, undefined,
      { guards: false, interceptors: false, filters: true }, contextType,
    );
    return async (occurrence) => {
      try {
        return await call(occurrence);
      } catch (err) {
        await filter(occurrence, err);
        throw err;
      }
    };
  }
}

function usesEnhancers(instance: Instance, method: string): boolean {
  return [GUARDS, INTERCEPTORS, FILTERS].some((key) => names(key, instance, method)) || Reflect.hasMetadata(PARAMETERS, instance.constructor, method);
}

function names(key: string, instance: Instance, method: string): boolean {
  return Reflect.hasMetadata(key, instance.constructor) || Reflect.hasMetadata(key, instance[method] as object);
}

const settled = (result: unknown): unknown => (isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result);
