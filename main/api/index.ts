export type { WorkbenchParts } from "./context.ts";
export { createRouter } from "./router.ts";
export { startServer } from "./server.ts";
