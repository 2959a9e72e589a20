import type { GraphCall, GraphNode, Reconstruction } from "./contract.ts";

export interface ReconstructOptions {
  /** Text of ids, to tell a template's break from one of re-tokenisation; without it both are called `template`. */
  readonly decode?: (ids: Int32Array) => string;
}

/** The chains of one attempt. Calls without a node take part as text-only chains. Pure; the input is not changed. */
export function reconstruct(calls: readonly GraphCall[], nodes: readonly GraphNode[], options: ReconstructOptions = {}): Reconstruction {
  throw new Error(`not built yet: ${calls.length} ${nodes.length} ${options.decode}`);
}
