/** The tokens of a chain: ids as the server saw and sampled them, and which of them are trained. */
import type { ChainTokens, Exclusion, GraphNode, TokenSegment } from "./contract.ts";

/** A node with what decides over its mask. */
export interface MaskedNode {
  readonly callIndex: number;
  readonly node: GraphNode;
  readonly excluded: Exclusion | null;
}

export interface ChainPath {
  readonly nodes: readonly MaskedNode[];
  /** How many nodes at the end the chain owns. */
  readonly owned: number;
  /** Nothing of an untrainable chain has mask 1. */
  readonly trainable: boolean;
}

/** Whether ids were blanked because they spell a secret. */
export function isBlanked(node: GraphNode): boolean {
  return node.addedPromptIds.some((id) => id < 0) || node.sampledIds.some((id) => id < 0);
}

/** Sampled tokens of a node that may be trained, and those left out because no finite log-probability came with them. */
export function countTrainable(masked: MaskedNode): { readonly trained: number; readonly withoutLogprob: number } {
  if (masked.excluded !== null) return { trained: 0, withoutLogprob: 0 };
  const { sampledIds, logprobs } = masked.node;
  if (logprobs.length === 0) return { trained: sampledIds.length, withoutLogprob: 0 };
  let trained = 0;
  for (let position = 0; position < sampledIds.length; position++) if (Number.isFinite(logprobs[position])) trained++;
  return { trained, withoutLogprob: sampledIds.length - trained };
}

/** Number of tokens on the path. */
export function pathLength(nodes: readonly MaskedNode[]): number {
  return nodes.reduce((length, { node }) => length + node.addedPromptIds.length + node.sampledIds.length, 0);
}

export function layOut(path: ChainPath): ChainTokens {
  const length = pathLength(path.nodes);
  const ids = new Int32Array(length);
  const mask = new Uint8Array(length);
  const logprobs = new Float32Array(length).fill(Number.NaN);
  const segments: TokenSegment[] = [];
  let at = 0;
  const append = (kind: TokenSegment["kind"], callIndex: number, added: Int32Array) => {
    if (added.length === 0) return;
    ids.set(added, at);
    segments.push({ callIndex, kind, start: at, end: at + added.length });
    at += added.length;
  };
  path.nodes.forEach((masked, position) => {
    const { node, callIndex, excluded } = masked;
    append("prompt", callIndex, node.addedPromptIds);
    const start = at;
    append("sampled", callIndex, node.sampledIds);
    logprobs.set(node.logprobs.subarray(0, node.sampledIds.length), start);
    const owned = position >= path.nodes.length - path.owned;
    if (owned && path.trainable && excluded === null) fillMask(mask, start, node);
  });
  return { ids, mask, logprobs, segments };
}

/** 1 on every sampled token, but not where an engine that gives log-probabilities gave no finite one. */
function fillMask(mask: Uint8Array, start: number, node: GraphNode): void {
  const { sampledIds, logprobs } = node;
  if (logprobs.length === 0) {
    mask.fill(1, start, start + sampledIds.length);
    return;
  }
  for (let position = 0; position < sampledIds.length; position++) mask[start + position] = Number.isFinite(logprobs[position]) ? 1 : 0;
}
