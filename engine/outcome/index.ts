export * from "./classify.ts";
export * from "./outcome.ts";
