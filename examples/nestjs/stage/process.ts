import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";

const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** A process that is killed, stopped and started anew. */
export class Program {
  output = "";
  /** Given each line that it writes. */
  onLine: (line: string) => void = () => undefined;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(private readonly command: string, private readonly args: string[], private env: Record<string, string> = {}) {}

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** Starts it, with other settings where some are given. */
  start(more: Record<string, string> = {}): void {
    this.env = { ...this.env, ...more };
    const child = spawn(this.command, this.args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NO_COLOR: "1", ...this.env } });
    this.child = child;
    alive.add(child);
    let rest = "";
    const take = (data: Buffer) => {
      this.output += data.toString();
      const lines = (rest + data.toString()).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach((line) => this.onLine(line));
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    this.ended = new Promise((resolve) => child.once("exit", () => {
      alive.delete(child);
      resolve();
    }));
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it, and waits until it has. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.child !== undefined && alive.has(this.child)) this.child.kill(signal);
    await this.ended;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
