export { checkFence, guard } from "./check.js";
export { type FenceStore, MemoryFence, sqlFence } from "./store.js";
export { expressFence, fastifyFence, type FenceOptions, grantFromEnv, grantFromHeaders } from "./http.js";
