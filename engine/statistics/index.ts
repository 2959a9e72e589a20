export * from "./interval.ts";
export * from "./random.ts";
