/**
 * Which nodes a model keeps, and in which order. ONNX Runtime executes by a depth-first walk backwards from the LAST node that nothing
 * consumes; the order decides how long activations stay alive (measured: twice the memory when it is wrong). So:
 * 1. nodes that no output needs are left out: a dead recomputation would be a leaf of its own and run at the very end;
 * 2. the nodes that produce gradients stand last, those of the first layer first, and other results after them: the forward pass
 *    runs whole, then each weight's gradient as soon as it can be had;
 * 3. an output is the producing node's own output under the wanted name: an Identity would be optimised away and the order with it.
 */
import type { Value } from "./graph.ts";
import type { ProtoNode } from "./model-proto.ts";

export interface GraphOutput {
  readonly name: string;
  readonly value: Value;
  readonly role: "gradient" | "result";
}

export interface ArrangedNodes {
  readonly nodes: readonly ProtoNode[];
  /** Names of all values that the kept nodes and outputs read. */
  readonly needed: ReadonlySet<string>;
}

export function arrangeNodes(all: readonly ProtoNode[], outputs: readonly GraphOutput[]): ArrangedNodes {
  const needed = new Set(outputs.map(({ value }) => value.name));
  const kept: ProtoNode[] = [];
  for (const node of all.toReversed()) {
    if (!node.outputs.some((name) => needed.has(name))) continue;
    kept.push(node);
    for (const input of node.inputs) needed.add(input);
  }
  kept.reverse();
  const uses = countUses(kept, outputs);
  const producers = new Map(kept.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const moved = new Set<ProtoNode>();
  const renamed = new Map<string, string>();
  const tail: ProtoNode[] = [];
  const ordered = [...outputs.filter(({ role }) => role === "gradient"), ...outputs.filter(({ role }) => role === "result")];
  for (const { name, value } of ordered) {
    const producer = producers.get(value.name);
    if (producer === undefined || uses.get(value.name) !== 1) {
      tail.push({ name: `output_${name}`, operator: "Identity", domain: "", inputs: [value.name], outputs: [name], attributes: {} });
    } else if (producer.outputs.length > 1) {
      renamed.set(value.name, name);
    } else {
      moved.add(producer);
      tail.push({ ...producer, outputs: [name] });
    }
  }
  const staying = kept.filter((node) => !moved.has(node)).map((node) => withOutputNames(node, renamed));
  return { nodes: [...staying, ...tail], needed };
}

function withOutputNames(node: ProtoNode, renamed: ReadonlyMap<string, string>): ProtoNode {
  return node.outputs.some((name) => renamed.has(name)) ? { ...node, outputs: node.outputs.map((name) => renamed.get(name) ?? name) } : node;
}

function countUses(nodes: readonly ProtoNode[], outputs: readonly GraphOutput[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const name of [...nodes.flatMap((node) => node.inputs), ...outputs.map(({ value }) => value.name)]) {
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  return uses;
}
