export { type AskOptions, type Child, type ChildAnswer, type ChildEntry, openChild } from "./child.ts";
export type { ChildFailure } from "./messages.ts";
export { type AskContext, type ChildHandler, type ChildProgram, serveParent } from "./serve.ts";
