export { chatContext, variablesContext } from "./chat-context.ts";
export { compileTemplate } from "./compile-template.ts";
export * from "./contract.ts";
export { checkStability } from "./stability.ts";
export { TemplateError } from "./template-error.ts";
