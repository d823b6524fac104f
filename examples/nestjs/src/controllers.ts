import { Controller, Get, Post, Query } from "@nestjs/common";
import { DulyHealthIndicator } from "@duly/nestjs";
import { HealthCheck, HealthCheckService } from "@nestjs/terminus";

@Controller("health")
export class HealthController {
  constructor(private readonly health: HealthCheckService, private readonly duly: DulyHealthIndicator) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.duly.isHealthy()]);
  }
}

/** For the tests and the demonstration. */
@Controller("faults")
export class FaultsController {
  /** Keeps the event loop from turning. */
  @Post("block")
  block(@Query("ms") ms: string): void {
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms)));
  }
}
