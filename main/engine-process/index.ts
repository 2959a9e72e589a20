export { type AskOptions, type Child, openChild } from "./child.ts";
export type { ChildFailure } from "./messages.ts";
export { type AskContext, type ChildHandler, serveParent } from "./serve.ts";
