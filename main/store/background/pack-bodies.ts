/**
 * Compaction, without its I/O around: bodies in, committable parts out. Bodies of one rollout come one after another; a chunk that
 * stands at the same place in the body before is known without hashing it.
 */
import { hash as digest } from "node:crypto";
import { chunkEnd } from "../bodies/chunker.ts";
import { encodeFrame } from "../bodies/pack.ts";
import { encodeRecipe } from "../bodies/recipe.ts";
import type { StoreProblem } from "../contract.ts";
import type { JournalBody, NewChunk, PackedPart } from "./messages.ts";

export interface PackingSource {
  /** The body's bytes, or null when it was deleted meanwhile; throws when they are damaged. */
  read(body: JournalBody): Uint8Array | null;
  /** Key of a chunk that packs hold already. */
  findChunk(hash: Uint8Array): number | null;
}

/** Chunks compressed together: large enough to share what they have in common, small enough to read one body. */
const frameBytes = 1024 * 1024;
/** 160 bits of SHA-256 name a chunk. */
const chunkHashBytes = 20;

interface CutBody {
  readonly owner: number | null;
  readonly bytes: Uint8Array;
  readonly chunks: readonly { readonly start: number; readonly end: number; readonly key: number }[];
}

export function* packBodies(
  bodies: readonly JournalBody[],
  nextChunk: number,
  source: PackingSource,
): Generator<PackedPart, readonly StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const known = new Map<string, number>();
  let next = nextChunk;
  let previous: CutBody | null = null;
  let group: { readonly bytes: Uint8Array; readonly key: number; readonly hash: Uint8Array }[] = [];
  let groupBytes = 0;
  let complete: { key: number; journal: number; recipe: Uint8Array }[] = [];

  function part(): PackedPart {
    const chunks: NewChunk[] = [];
    let offset = 0;
    for (const { bytes, key, hash } of group) {
      chunks.push({ key, hash, offset, length: bytes.length });
      offset += bytes.length;
    }
    const plain = Buffer.concat(group.map((chunk) => chunk.bytes));
    const frame = group.length === 0 ? null : { bytes: encodeFrame(plain), length: plain.length, chunks };
    const ready = { frame, bodies: complete };
    group = [];
    groupBytes = 0;
    complete = [];
    return ready;
  }

  function keyOfChunk(bytes: Uint8Array): number {
    const hash = digest("sha256", bytes, "buffer").subarray(0, chunkHashBytes);
    const name = hash.toString("latin1");
    const found = known.get(name) ?? source.findChunk(hash);
    if (found !== null && found !== undefined) {
      known.set(name, found);
      return found;
    }
    known.set(name, next);
    group.push({ bytes, key: next, hash });
    groupBytes += bytes.length;
    next += 1;
    return next - 1;
  }

  for (const body of bodies) {
    let bytes: Uint8Array | null;
    try {
      bytes = source.read(body);
    } catch (error) {
      problems.push({ where: `body ${body.hash.slice(0, 12)}…`, message: error instanceof Error ? error.message : String(error), repaired: false });
      continue;
    }
    if (bytes === null) continue;
    const chunks: { start: number; end: number; key: number }[] = [];
    for (let start = 0; start < bytes.length; ) {
      const same: CutBody["chunks"][number] | undefined =
        previous?.owner === body.owner ? sameChunk(previous, chunks.length, bytes, start) : undefined;
      const end = same?.end ?? chunkEnd(bytes, start);
      chunks.push({ start, end, key: same?.key ?? keyOfChunk(bytes.subarray(start, end)) });
      start = end;
      if (groupBytes >= frameBytes) yield part();
    }
    complete.push({ key: body.key, journal: body.journal, recipe: encodeRecipe(chunks.map((chunk) => chunk.key)) });
    previous = { owner: body.owner, bytes, chunks };
  }
  if (group.length > 0 || complete.length > 0) yield part();
  return problems;
}

/** The chunk of the body before that starts at the same offset with the same bytes. The last one may have been cut by its body's end. */
function sameChunk(previous: CutBody, index: number, bytes: Uint8Array, start: number): CutBody["chunks"][number] | undefined {
  const chunk = previous.chunks[index];
  if (chunk === undefined || chunk.start !== start || index === previous.chunks.length - 1 || chunk.end > bytes.length) return undefined;
  return Buffer.compare(previous.bytes.subarray(start, chunk.end), bytes.subarray(start, chunk.end)) === 0 ? chunk : undefined;
}
