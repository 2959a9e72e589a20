export * from "./classify.ts";
export * from "./outcome.ts";
export * from "./step-rewards.ts";
