import { createHash } from "node:crypto";
import type { Handler, Occurrence } from "@duly/client";
import type { Span } from "@opentelemetry/api";

type OpenTelemetry = typeof import("@opentelemetry/api");

/**
 * The W3C traceparent of an occurrence. It follows from the occurrence's identity, so
 * all attempts, on whichever nodes, are in one trace.
 */
export function traceparent(occurrence: Pick<Occurrence, "idempotencyKey">): string {
  const { traceId, spanId } = traceOf(occurrence);
  return `00-${traceId}-${spanId}-01`;
}

/**
 * @opentelemetry/api, where the application has it. Not among the types of the package:
 * an application without it could not compile them.
 * @internal
 */
export async function openTelemetry(): Promise<OpenTelemetry | undefined> {
  try {
    return await import("@opentelemetry/api");
  } catch {
    return undefined;
  }
}

/**
 * Calls a handler in a span of its own for each attempt, below the occurrence's.
 * @internal
 */
export function traced(otel: OpenTelemetry, node: string, handler: Handler): Handler {
  return (occ) => {
    const parent = otel.trace.setSpanContext(otel.ROOT_CONTEXT, { ...traceOf(occ), traceFlags: otel.TraceFlags.SAMPLED, isRemote: true });
    const attributes = {
      "duly.schedule": occ.schedule, "duly.occurrence": occ.id, "duly.period": occ.period, "duly.attempt": occ.attempt,
      "duly.fencing_token": occ.token, "duly.node": node,
    };
    const work = async (span: Span) => {
      try {
        return await handler(occ);
      } catch (err) {
        span.recordException(err as Error);
        span.setStatus({ code: otel.SpanStatusCode.ERROR, message: String(err) });
        throw err;
      } finally {
        span.end();
      }
    };
    return otel.trace.getTracer("@duly/nestjs").startActiveSpan(`duly ${occ.schedule}`, { kind: otel.SpanKind.CONSUMER, attributes }, parent, work);
  };
}

function traceOf({ idempotencyKey }: Pick<Occurrence, "idempotencyKey">): { traceId: string; spanId: string } {
  const hash = createHash("sha256").update(idempotencyKey).digest("hex");
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}
