/** Someone else's recordings, brought in read-only: Harbor job folders, Inspect logs, ATIF documents. */
export { trajectoryFault } from "./atif/import-atif.ts";
export { importFrom } from "./import.ts";
