/** Asks until there is an answer. */
export async function until<T>(ask: () => Promise<T | undefined> | T | undefined, what: string | (() => string), ms = 120_000): Promise<T> {
  for (const deadline = Date.now() + ms; ; ) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`after ${ms} ms: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
