export * from "./conversation.ts";
