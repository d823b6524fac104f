import { Module } from "@nestjs/common";
import { DulyModule } from "@duly/nestjs";
import { TerminusModule } from "@nestjs/terminus";
import { TypeOrmModule } from "@nestjs/typeorm";
import { FaultsController, HealthController } from "./controllers.js";
import { database } from "./database.js";
import { InvoicesService } from "./invoices.service.js";
import { settings } from "./settings.js";

@Module({
  imports: [
    TypeOrmModule.forRoot(database),
    DulyModule.forRoot({ app: "billing", name: settings.node, sessionTtl: "5s" }), // the server is DULY_SERVER
    TerminusModule,
  ],
  controllers: [HealthController, ...(settings.faults ? [FaultsController] : [])],
  providers: [InvoicesService],
})
export class AppModule {}
