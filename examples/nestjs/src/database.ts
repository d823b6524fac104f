import type { DataSourceOptions } from "typeorm";
import { Customer, Invoice } from "./entities.js";

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = process.env;

export const database = {
  type: "postgres",
  host: PGHOST ?? "127.0.0.1",
  port: Number(PGPORT ?? 5432),
  username: PGUSER ?? "postgres",
  password: PGPASSWORD,
  database: PGDATABASE ?? "billing",
  entities: [Customer, Invoice],
} satisfies DataSourceOptions;
