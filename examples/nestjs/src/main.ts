import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import { AppModule } from "./app.module.js";
import { settings } from "./settings.js";

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // SIGTERM lets running work end
  await app.listen(settings.port, "127.0.0.1");
}

void main();
