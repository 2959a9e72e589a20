/** Recordings as files that other tools read: trajectories, job folders, trainer rows, archives, tables, pages. */
export { exportTo } from "./export.ts";
