/** Rows of a result: the engine beside PyTorch as it is written, and beside torch.compile. */
import { type BenchmarkRow, rowOf } from "../measure/compare.ts";
import type { Measured, PeerKind } from "./peers.ts";

const references = { eager: "PyTorch eager", compiled: "torch.compile" } as const;
type Reference = keyof typeof references;

/** `aims`: least ratio of speeds; null = told only. */
export function speedRows(name: string, measured: ReadonlyMap<PeerKind, Measured>, aims: Readonly<Record<Reference, number>> | null): BenchmarkRow[] {
  const ours = measured.get("engine")?.speeds ?? [];
  return (["eager", "compiled"] as const).map((kind) => {
    const theirs = measured.get(kind);
    const aim = aims === null ? "none" : `≥ ${aims[kind]} × ${references[kind]}`;
    const reference = theirs === undefined ? null : { name: references[kind], values: theirs.speeds };
    return rowOf({ name: `${name}, beside ${references[kind]}`, unit: "tokens/s", aim }, ours, reference);
  });
}

/** Peaks of the whole processes, mapped weights included. */
export function memoryRows(name: string, measured: ReadonlyMap<PeerKind, Measured>): BenchmarkRow[] {
  const megabytes = (kind: PeerKind): number[] => {
    const one = measured.get(kind);
    return one === undefined ? [] : [one.peakBytes / 2 ** 20];
  };
  const theirs = megabytes("eager");
  const reference = theirs.length === 0 ? null : { name: references.eager, values: theirs };
  return [rowOf({ name: `peak memory, ${name}`, unit: "MB", aim: "≤ 0.5 × PyTorch eager" }, megabytes("engine"), reference)];
}
