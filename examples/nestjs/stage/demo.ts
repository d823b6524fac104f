// Three nodes and one invoice, to look at: npm start, and then kill one.
import { Stage } from "./stage.js";

const stage = await Stage.open(new URL("../src", import.meta.url).pathname, { INVOICE_LEASE: "5s", INVOICE_PACE: "8000" });
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const say = (line: string) => process.stdout.write(`${line}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stage.close().finally(() => process.exit(0)));
}

say("starting three nodes …");
for (const name of ["node-1", "node-2", "node-3"]) {
  const { program } = await stage.start(name);
  program.onLine = (line) => {
    const told = / (?:LOG|WARN|ERROR) (.*)/.exec(line)?.[1];
    if (told !== undefined) say(`  ${name}  ${told}`);
  };
  say(`  ${name}  process ${program.pid}`);
}
say(`\nDuly's page: ${stage.url}\n\ninvoices for ${day}, for three customers, eight seconds each:`);
await stage.client.schedules.trigger("invoices", { period: day });
const owner = await stage.inTheMiddle(day);
say(`\n  in another terminal, now:   kill -9 ${owner.program.pid}\n`);
const done = await stage.done(day);

say(`\n${done.id} ${done.state}`);
for (const a of done.attempts) say(`  attempt ${a.number}  ${a.node ?? ""}  ${a.outcome ?? ""}  ${a.effects?.created ?? 0} made, ${a.effects?.reused ?? 0} found`);
say("invoices in the table:");
for (const i of await stage.invoices(day)) say(`  customer ${i.customer_id}, made by ${i.made_by}`);
say("\nIts page has the rest. Ctrl-C ends all of it.");
setInterval(() => undefined, 60_000); // until then
