import type { Placement, PlacementIndex } from "./contract.ts";

interface Placed {
  readonly callId: string;
  readonly addedPromptIds: Int32Array;
  readonly sampledIds: Int32Array;
  readonly children: Placed[];
}

interface Found {
  readonly parent: Placed | null;
  readonly length: number;
}

/**
 * The prefix forest of one attempt, grown call by call. Whatever sequence a prompt begins with, it begins with that of the
 * sequence's parent too; so the search goes down from the roots and compares each stretch of ids once.
 */
export function createPlacementIndex(): PlacementIndex {
  const roots: Placed[] = [];
  return {
    placeCall({ callId, promptIds, sampledIds }): Placement {
      const { parent, length } = longestBeginning(roots, promptIds);
      const addedPromptIds = promptIds.subarray(length);
      (parent?.children ?? roots).push({ callId, addedPromptIds, sampledIds, children: [] });
      return { parentCallId: parent?.callId ?? null, addedPromptIds, promptLength: promptIds.length };
    },
  };
}

/** The placed call with the longest sequence that the prompt begins with; among equals one that nothing goes on from yet, then the latest. */
function longestBeginning(roots: readonly Placed[], prompt: Int32Array): Found {
  let best: Found = { parent: null, length: 0 };
  const open: { readonly nodes: readonly Placed[]; readonly length: number }[] = [{ nodes: roots, length: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const node of next.nodes) {
      const sampledAt = next.length + node.addedPromptIds.length;
      const length = sampledAt + node.sampledIds.length;
      if (length > prompt.length || !standsAt(prompt, next.length, node.addedPromptIds) || !standsAt(prompt, sampledAt, node.sampledIds)) continue;
      if (isBetter(node, length, best)) best = { parent: node, length };
      if (node.children.length > 0) open.push({ nodes: node.children, length });
    }
  }
  return best;
}

function isBetter(node: Placed, length: number, best: Found): boolean {
  if (best.parent === null || length !== best.length) return best.parent === null || length > best.length;
  // A node of the same length is a sibling, met in the order of placing, or goes on from the best without adding a token.
  return node.children.length === 0 || best.parent.children.length > 0;
}

function standsAt(prompt: Int32Array, start: number, ids: Int32Array): boolean {
  for (let offset = ids.length - 1; offset >= 0; offset--) {
    if (prompt[start + offset] !== ids[offset]) return false;
  }
  return true;
}
