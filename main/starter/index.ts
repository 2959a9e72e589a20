/** The starter experiment: tasks of five families, a tiny policy that ships, and the teacher that it learned from. */
export * from "./contract.ts";
export { generateStarterTasks } from "./generate-tasks.ts";
