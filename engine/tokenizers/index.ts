export type * from "./contract.ts";
export { loadTokenizer } from "./load.ts";
