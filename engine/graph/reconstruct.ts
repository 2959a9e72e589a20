import { breakCauseOf } from "./break-cause.ts";
import { type ChainPath, countTrainable, isBlanked, layOut, type MaskedNode, pathLength } from "./chain-tokens.ts";
import type { BreakCause, Chain, GraphCall, GraphNode, Reconstruction } from "./contract.ts";
import { chainsOf, type ForestChain, type ForestItem } from "./forest.ts";
import { goesOnFrom } from "./message-prefix.ts";

interface ReconstructOptions {
  /** Text of ids, to tell a template's break from one of re-tokenisation; without it both are called `template`. */
  readonly decode?: (ids: Int32Array) => string;
}

/** A call on its way through the forest; `node` is null for a text-only call. */
interface Entry {
  readonly call: GraphCall;
  readonly node: GraphNode | null;
  readonly parent: number | null;
  readonly blanked: boolean;
  /** Its own tokens do not follow what is known of its parent: an earlier record is missing. */
  readonly torn: boolean;
}

/**
 * The chains of one attempt: first those with tokens and those without in the order of their first calls. Calls without a
 * node are text-only and go by their messages. Pure; the input is not changed and not copied.
 */
export function reconstruct(calls: readonly GraphCall[], nodes: readonly GraphNode[], options: ReconstructOptions = {}): Reconstruction {
  const entries = entriesOf(calls, nodes);
  const ordered = entries.map((entry) => entry.call);
  const forest = chainsOf(entries.map(forestItem));
  const sameText = textComparison(entries, options.decode);
  const paths = forest.map((chain) => pathOf(chain, entries));
  // A call that is on no chain (an attempt that nobody went on from) is nothing that a chain could have continued.
  const onChains = new Set(paths.flatMap((path) => path.calls));
  const continuable = ordered.filter((call) => onChains.has(call.index) && !isSide(call));
  const causes = forest.map((chain) => {
    const first = entries[chain.first];
    const parent = first === undefined || first.parent === null ? null : (entries[first.parent]?.call ?? null);
    if (first === undefined) return null;
    return isSide(first.call) ? "side" : breakCauseOf(first.call, { calls: continuable, parent, sameText });
  });
  const chains = paths.map((path, number) => describeChain(path, number, causes[number] ?? null));
  const sampled = nodes.reduce((sum, node) => sum + node.sampledIds.length, 0);
  return {
    chains,
    chainOfCall: ownersOf(chains),
    counts: {
      sampled,
      trained: chains.reduce((sum, chain) => sum + chain.trained, 0),
      breaks: tally(causes),
      excluded: tally(ordered.map((call) => call.excluded)),
      withoutLogprob: paths.reduce((sum, path) => sum + path.withoutLogprob, 0),
    },
    trainable: chains.some((chain) => chain.trainable),
    reason: reasonOf(chains, ordered),
    tokensOf(chain) {
      const path = paths[chain];
      if (path === undefined) throw new RangeError(`there is no chain ${chain}; this rollout has ${paths.length}`);
      return layOut(path);
    },
  };
}

function isSide({ excluded }: GraphCall): boolean {
  return excluded === "side";
}

function forestItem({ call, parent, blanked }: Entry): ForestItem {
  return { parent, onlyIfContinued: call.excluded !== null && !isSide(call) && !blanked, apart: isSide(call), thread: call.thread };
}

function entriesOf(calls: readonly GraphCall[], nodes: readonly GraphNode[]): Entry[] {
  const nodeOfCall = new Map(nodes.map((node) => [node.callId, node]));
  const ordered = calls.toSorted((left, right) => left.index - right.index);
  const positions = new Map<string, number>();
  const entries: Entry[] = [];
  const lengths: number[] = [];
  ordered.forEach((call, position) => {
    const node = nodeOfCall.get(call.id) ?? null;
    const parent = node === null ? textParent(call, entries) : node.parentCallId === null ? null : (positions.get(node.parentCallId) ?? null);
    const parentLength = parent === null ? 0 : (lengths[parent] ?? 0);
    const torn = node !== null && parentLength + node.addedPromptIds.length !== node.promptLength;
    entries.push({ call, node, parent, blanked: node !== null && isBlanked(node), torn });
    positions.set(call.id, position);
    lengths.push(node === null ? 0 : node.promptLength + node.sampledIds.length);
  });
  return entries;
}

/** Position of the text-only call that a text-only call goes on from: the one with the longest request, the latest of equals. */
function textParent(call: GraphCall, entries: readonly Entry[]): number | null {
  let best: number | null = null;
  entries.forEach((entry, position) => {
    if (entry.node !== null || !goesOnFrom(call, entry.call)) return;
    if (best === null || entry.call.messages.length >= (entries[best]?.call.messages.length ?? 0)) best = position;
  });
  return best;
}

interface DescribedPath extends ChainPath {
  readonly calls: readonly number[];
  readonly trained: number;
  readonly withoutLogprob: number;
  readonly reason: string | null;
}

function pathOf(chain: ForestChain, entries: readonly Entry[]): DescribedPath {
  const onPath = chain.path.flatMap((position) => entries[position] ?? []);
  const nodes: MaskedNode[] = onPath.flatMap(({ call, node }) => (node === null ? [] : [{ callIndex: call.index, node, excluded: call.excluded }]));
  const counted = nodes.slice(nodes.length - chain.owned).map(countTrainable);
  const possible = counted.reduce((sum, one) => sum + one.trained, 0);
  const withoutLogprob = counted.reduce((sum, one) => sum + one.withoutLogprob, 0);
  const reason = untrainableReason(onPath, chain.owned, possible, withoutLogprob);
  const trainable = reason === null;
  return {
    nodes,
    owned: chain.owned,
    calls: onPath.map((entry) => entry.call.index),
    trainable,
    trained: trainable ? possible : 0,
    withoutLogprob,
    reason,
  };
}

function untrainableReason(path: readonly Entry[], owned: number, trained: number, withoutLogprob: number): string | null {
  if (path.some((entry) => entry.node === null)) return "no token ids";
  if (path.some((entry) => entry.blanked)) return "secret-seen: a declared secret is spelled by its tokens";
  if (path.some((entry) => entry.torn)) return "the tokens of an earlier call are missing";
  if (trained > 0) return null;
  const excluded = new Set(path.slice(path.length - owned).flatMap(({ call }) => call.excluded ?? []));
  if (excluded.size > 0) return `nothing sampled on it may be trained: ${[...excluded].join(", ")}`;
  return withoutLogprob > 0 ? "no sampled token has a finite log-probability" : "nothing was sampled on it";
}

function describeChain(path: DescribedPath, number: number, breakCause: BreakCause | null): Chain {
  const { calls, owned, trained, trainable, reason } = path;
  return { number, calls, owned, tokens: pathLength(path.nodes), trained, breakCause, trainable, reason };
}

function ownersOf(chains: readonly Chain[]): ReadonlyMap<number, number> {
  return new Map(chains.flatMap((chain) => chain.calls.slice(chain.calls.length - chain.owned).map((call) => [call, chain.number] as const)));
}

/** The reason that most chains share speaks for the rollout; without chains, what became of its calls. */
function reasonOf(chains: readonly Chain[], calls: readonly GraphCall[]): string | null {
  if (chains.some((chain) => chain.trainable)) return null;
  if (calls.length === 0) return "no calls were captured";
  const reasons = tally(chains.map((chain) => chain.reason));
  const [most] = Object.entries(reasons).toSorted(([, left], [, right]) => right - left);
  if (most !== undefined) return most[0];
  return `no call may be trained: ${Object.keys(tally(calls.map((call) => call.excluded))).join(", ")}`;
}

function tally<T extends string>(values: readonly (T | null)[]): Record<T, number> {
  const counts = {} as Record<T, number>;
  for (const value of values) if (value !== null) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

type Decode = NonNullable<ReconstructOptions["decode"]>;

/** Compares the text of an earlier call's prompt and answer with the beginning of a later prompt. */
function textComparison(entries: readonly Entry[], decode: Decode | undefined): (earlier: GraphCall, call: GraphCall) => boolean | null {
  const texts = new Map<string, { readonly prompt: string; readonly whole: string } | null>();
  const textOf = (id: string) => {
    let text = texts.get(id);
    if (text === undefined) {
      const position = entries.findIndex((entry) => entry.call.id === id);
      text = decode === undefined ? null : decodeEntry(entries, position, decode);
      texts.set(id, text);
    }
    return text;
  };
  return (earlier, call) => {
    const before = textOf(earlier.id);
    const after = textOf(call.id);
    return before === null || after === null ? null : after.prompt.startsWith(before.whole);
  };
}

function decodeEntry(entries: readonly Entry[], position: number, decode: Decode): { readonly prompt: string; readonly whole: string } | null {
  const path: MaskedNode[] = [];
  for (let at: number | null = position; at !== null; at = entries[at]?.parent ?? null) {
    const entry = entries[at];
    if (entry === undefined || entry.node === null || entry.blanked || entry.torn) return null;
    path.unshift({ callIndex: entry.call.index, node: entry.node, excluded: null });
  }
  const { ids } = layOut({ nodes: path, owned: 0, trainable: false });
  const sampled = entries[position]?.node?.sampledIds.length ?? 0;
  return { prompt: decode(ids.subarray(0, ids.length - sampled)), whole: decode(ids) };
}
