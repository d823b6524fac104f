/** Where a worker says what operators should know. `console` is one. */
export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

const say = (to: (line: string) => void) => (message: string, fields: object = {}) =>
  to(`duly: ${message}${Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ""}`);

/** Warnings and errors go to the console. */
export const consoleLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: say((line) => console.warn(line)),
  error: say((line) => console.error(line)),
};
