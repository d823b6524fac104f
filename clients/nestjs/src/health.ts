import { Inject, Injectable } from "@nestjs/common";
import { Runtime } from "./runtime.js";

/** A health check of Terminus: `health.check([() => duly.isHealthy()])`. */
@Injectable()
export class DulyHealthIndicator {
  constructor(@Inject(Runtime) private readonly runtime: Runtime) {}

  /**
   * `up` while this process takes part: it has joined, its schedules are in force, and
   * the server answers. `down` says that nothing new starts here; what runs goes on.
   */
  async isHealthy<K extends string = "duly">(key?: K): Promise<Record<K, DulyHealth>> {
    const { up, ...about } = this.runtime.status;
    return { [key ?? "duly"]: { status: up ? "up" : "down", ...about } } as Record<K, DulyHealth>;
  }
}

export interface DulyHealth {
  status: "up" | "down";
  mode: string;
  node: string;
  joined: boolean;
  schedules: string[];
  error?: string;
}
