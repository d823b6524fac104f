import { createParamDecorator, type ExecutionContext } from "@nestjs/common";
import type { Occurrence } from "@duly/client";

/** The type of execution context that guards, interceptors and filters see: `context.getType() === "duly"`. */
export const contextType = "duly";

/** The occurrence that an execution context is about; undefined where it is about something else. */
export function occurrenceOf(context: Pick<ExecutionContext, "getType" | "getArgs">): Occurrence | undefined {
  return context.getType<string>() === contextType ? context.getArgs<[Occurrence]>()[0] : undefined;
}

/** A parameter that is given the occurrence, for methods that decorate their parameters. */
export const CurrentOccurrence = createParamDecorator((_: unknown, context: ExecutionContext) => occurrenceOf(context));

/** A parameter that is given the payload, through pipes where some are named: `@OccurrencePayload(new ValidationPipe({ validateCustomDecorators: true }))`. */
export const OccurrencePayload = createParamDecorator((_: unknown, context: ExecutionContext) => occurrenceOf(context)?.payload);
