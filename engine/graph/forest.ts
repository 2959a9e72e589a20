/** From parents to chains: which calls are kept, which child extends its parent's chain, and the path of each chain. */

export interface ForestItem {
  /** Position of the parent in the list, always earlier; null for a root. */
  readonly parent: number | null;
  /** Takes part only if something goes on from it. */
  readonly onlyIfContinued: boolean;
  /** Extends only the chain of a parent that is apart too. */
  readonly apart: boolean;
  readonly thread: string | null;
}

export interface ForestChain {
  /** Positions in the list, root first. */
  readonly path: readonly number[];
  /** Position of the first item that this chain owns. */
  readonly first: number;
  readonly owned: number;
}

/** Chains in the order of the first item that each owns. */
export function chainsOf(items: readonly ForestItem[]): readonly ForestChain[] {
  const kept = keptItems(items);
  const extensions = extensionsOf(items, kept);
  const chains: ForestChain[] = [];
  items.forEach((item, position) => {
    if (!kept[position] || (item.parent !== null && extensions.get(item.parent) === position)) return;
    const ownedPath = [position];
    for (let next = extensions.get(position); next !== undefined; next = extensions.get(next)) ownedPath.push(next);
    chains.push({ path: [...ancestorsOf(items, item.parent), ...ownedPath], first: position, owned: ownedPath.length });
  });
  return chains;
}

function keptItems(items: readonly ForestItem[]): boolean[] {
  const kept = items.map((item) => !item.onlyIfContinued);
  for (let position = items.length - 1; position >= 0; position--) {
    const parent = items[position]?.parent ?? null;
    if (kept[position] && parent !== null) kept[parent] = true;
  }
  return kept;
}

/** The child that extends each item's chain. */
function extensionsOf(items: readonly ForestItem[], kept: readonly boolean[]): ReadonlyMap<number, number> {
  const extensions = new Map<number, number>();
  items.forEach((item, position) => {
    const parent = item.parent === null ? undefined : items[item.parent];
    if (!kept[position] || item.parent === null || parent === undefined || (item.apart && !parent.apart)) return;
    const { thread } = parent;
    const current = extensions.get(item.parent);
    const better = current === undefined || (items[current]?.thread !== thread && item.thread === thread);
    if (better) extensions.set(item.parent, position);
  });
  return extensions;
}

function ancestorsOf(items: readonly ForestItem[], parent: number | null): number[] {
  const path: number[] = [];
  for (let at = parent; at !== null; at = items[at]?.parent ?? null) path.push(at);
  return path.reverse();
}
