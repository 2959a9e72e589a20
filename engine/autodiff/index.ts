export { type AttentionOptions, CausalMask, causalAttention } from "./attention.ts";
export { barrier, checkpoint, zeroInput } from "./checkpoint.ts";
export { add, divide, exponential, gatedUnit, logarithm, multiply, subtract, sum } from "./elementwise.ts";
export { reshape, transpose } from "./layout.ts";
export { rmsNorm } from "./norm.ts";
export { type GemmOptions, gatherRows, gemm } from "./products.ts";
export { type RotaryTables, rotary } from "./rotary.ts";
export { type Backward, type Contribution, Gradients, type Seed, Tape } from "./tape.ts";
export { type TokenHead, type TokenHeadOptions, tokenHead } from "./token-head.ts";
