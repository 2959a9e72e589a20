export { examineMachine } from "./examine.ts";
export * from "./folders.ts";
