/** Harbor task packages: read, checked, named by their digest, made from a template, and laid out in a sandbox. */
export * from "./contract.ts";
