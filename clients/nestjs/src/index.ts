export { DulyModule } from "./duly.module.js";
export { type CronOptions, Scheduled, type ScheduledOptions } from "./scheduled.js";
export { Duly } from "./duly.js";
export { DulyHealthIndicator, type DulyHealth } from "./health.js";
export { CurrentOccurrence, occurrenceOf, OccurrencePayload } from "./params.js";
export { traceparent } from "./trace.js";
export { DULY_OPTIONS, type DulyModuleOptions, type Mode, type ScheduleDefaults } from "./options.js";
