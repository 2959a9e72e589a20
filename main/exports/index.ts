/** Recordings as files that other tools read: trajectories, job folders, trainer rows, archives, tables, pages. */
export type { ExportParts } from "./contract.ts";
export { exportTo } from "./export.ts";
