import { Logger as NestLogger } from "@nestjs/common";
import type { Logger } from "@duly/client";

/** What the worker has to say goes where the application's own messages go. */
export function nestLogger(): Logger {
  const logger = new NestLogger("Duly");
  const line = (message: string, fields: object = {}) => (Object.keys(fields).length > 0 ? `${message} ${JSON.stringify(fields)}` : message);
  return {
    debug: (message, fields) => logger.debug(line(message, fields)),
    info: (message, fields) => logger.log(line(message, fields)),
    warn: (message, fields) => logger.warn(line(message, fields)),
    error: (message, fields) => logger.error(line(message, fields)),
  };
}
