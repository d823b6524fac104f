import { setTimeout } from "node:timers/promises";
import { Injectable, Logger } from "@nestjs/common";
import type { Occurrence } from "@duly/client";
import { typeormTx } from "@duly/client/typeorm";
import { Scheduled } from "@duly/nestjs";
import { DataSource } from "typeorm";
import { Customer, Invoice } from "./entities.js";
import { settings } from "./settings.js";

@Injectable()
export class InvoicesService {
  private readonly logger = new Logger(InvoicesService.name);

  constructor(private readonly dataSource: DataSource) {}

  @Scheduled(settings.cron, { name: "invoices", timeZone: "Europe/Berlin", lease: settings.lease, retry: { max_attempts: 20, backoff: "1s", max_backoff: "5s" } })
  async send(occ: Occurrence): Promise<void> {
    for (const customer of await this.dataSource.getRepository(Customer).find({ order: { id: "ASC" } })) {
      await this.invoice(occ, customer);
      await setTimeout(settings.pace); // whatever else there is to do: a PDF, a mail
    }
  }

  /** The invoice, its business key and the check of the lease's fencing token are one transaction. */
  private async invoice(occ: Occurrence, customer: Customer): Promise<void> {
    const { reused } = await this.dataSource.transaction((manager) =>
      occ.effects.once(typeormTx("postgres", manager), `invoice/${customer.id}/${occ.period}`, async () => {
        const { number } = await manager.save(manager.create(Invoice, { customerId: customer.id, day: occ.period, madeBy: settings.node }));
        return number;
      }));
    this.logger.log(`${occ.period} ${customer.name}: ${reused ? "had its invoice" : "invoiced"} (attempt ${occ.attempt})`);
  }
}
