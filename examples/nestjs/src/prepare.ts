// Makes the tables, those of the effect ledger too, and three customers.
import "reflect-metadata";
import { migrate } from "@duly/client";
import { typeorm } from "@duly/client/typeorm";
import { DataSource } from "typeorm";
import { database } from "./database.js";
import { Customer } from "./entities.js";

async function main(): Promise<void> {
  const source = await new DataSource({ ...database, synchronize: true }).initialize();
  await migrate(typeorm("postgres", source));
  const customers = source.getRepository(Customer);
  if ((await customers.count()) === 0) await customers.save(["Ada", "Grace", "Edsger"].map((name) => ({ name })));
  await source.destroy();
}

void main();
