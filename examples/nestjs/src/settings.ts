const { INVOICE_CRON, INVOICE_LEASE, INVOICE_PACE, NODE_NAME, PORT, FAULTS } = process.env;

/** What the environment says. */
export const settings = {
  cron: INVOICE_CRON ?? "0 0 * * *",
  lease: INVOICE_LEASE ?? "30s",
  /** How long the rest of the work for one customer takes, in ms. */
  pace: Number(INVOICE_PACE ?? 0),
  node: NODE_NAME ?? `node-${process.pid}`,
  port: Number(PORT ?? 3000),
  /** Whether this process can be made to misbehave, over HTTP. */
  faults: FAULTS === "1",
};
