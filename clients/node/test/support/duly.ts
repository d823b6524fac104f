import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { inject, onTestFinished } from "vitest";
import { type api, Client, type Logger, type Worker, type WorkerOptions } from "../../src/index.js";

/** A real `duly serve` on a store of its own. */
export class Duly {
  private process: ChildProcess | undefined;
  readonly client: Client;

  private constructor(readonly dir: string, readonly port: number) {
    this.client = new Client({ url: this.url });
  }

  static async start(): Promise<Duly> {
    const duly = new Duly(mkdtempSync("/tmp/duly-node-"), await freePort());
    await duly.up();
    onTestFinished(async () => {
      await duly.kill();
      rmSync(duly.dir, { recursive: true, force: true });
    });
    return duly;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it, on the same store and port where it ran before. */
  async up(): Promise<void> {
    const child = spawn(`${inject("bin")}/duly`, ["serve", "--store", `sqlite:${this.dir}/duly.db`, "--listen", `127.0.0.1:${this.port}`, "--log", "text"], { stdio: ["ignore", "ignore", "pipe"] });
    this.process = child;
    let said = "";
    child.stderr.on("data", (data: Buffer) => (said += data.toString()));
    for (const deadline = Date.now() + 60_000; ; ) {
      const ready = await fetch(`${this.url}/readyz`).then((r) => r.ok, () => false);
      if (ready) return;
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`duly serve: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill(): Promise<void> {
    const child = this.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  /** A worker that is drained when the test is over. */
  worker(options: WorkerOptions = {}): Worker {
    const worker = this.client.worker({ logger: quiet, pollWait: "5s", drainTime: 0, cancelGrace: "1s", ...options });
    onTestFinished(() => worker.drain().catch(() => undefined));
    return worker;
  }

  /** The occurrence, once it is in one of the states. */
  async state(id: string, ...states: api.State[]): Promise<api.Occurrence> {
    return until(async () => {
      const occurrence = await this.client.occurrences.get(id);
      return states.includes(occurrence.state) ? occurrence : undefined;
    }, `${id} is not ${states.join(" or ")}`);
  }
}

export const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Asks until there is an answer. */
export async function until<T>(ask: () => Promise<T | undefined> | T | undefined, what: string, ms = 30_000): Promise<T> {
  for (const deadline = Date.now() + ms; ; ) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`after ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A promise and what settles it. */
export function gate<T = void>(): { open: (value: T) => void; opened: Promise<T> } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { open, opened };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
