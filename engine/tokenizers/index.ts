export type * from "./contract.ts";
export { type GgufTokenizerFiles, tokenizerFromGguf } from "./gguf-tokenizer.ts";
export { type LearnOptions, learnTokenizer } from "./learn-tokenizer.ts";
export { loadTokenizer } from "./load.ts";
