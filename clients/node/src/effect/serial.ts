/**
 * Makes calls come one after the other: a connection of SQLite is in one
 * transaction at a time, and what came in between would be in it too.
 */
export function serial(): <T>(fn: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (fn) => {
    const mine = last.then(fn);
    last = mine.catch(() => undefined);
    return mine;
  };
}
