import { ConfigurableModuleBuilder, Module } from "@nestjs/common";
import { DiscoveryModule } from "@nestjs/core";
import { Duly } from "./duly.js";
import { Explorer } from "./explorer.js";
import { DulyHealthIndicator } from "./health.js";
import { Invoker } from "./invoke.js";
import { checkOptions, DULY_OPTIONS, type DulyModuleOptions } from "./options.js";
import { Runtime } from "./runtime.js";

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DulyModuleOptions>({ optionsInjectionToken: DULY_OPTIONS as symbol })
  .setClassMethodName("forRoot")
  .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
  .build();

/** Makes a Nest application a node of Duly: `DulyModule.forRoot({ app: "billing" })`, or `forRootAsync`. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: Duly,
      inject: [DULY_OPTIONS],
      useFactory: (options: DulyModuleOptions) => {
        checkOptions(options);
        return new Duly(options);
      },
    },
    Explorer, Invoker, Runtime, DulyHealthIndicator,
  ],
  exports: [Duly, DulyHealthIndicator, DULY_OPTIONS],
})
export class DulyModule extends ConfigurableModuleClass {}
