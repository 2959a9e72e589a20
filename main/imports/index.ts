/** Someone else's recordings, brought in read-only: Harbor job folders, Inspect logs, ATIF documents. */
export { importFrom } from "./import.ts";
