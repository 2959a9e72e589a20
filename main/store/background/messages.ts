/** What the store and its worker say to each other. The worker reads, computes and syncs; only the store writes rows and packs. */
import type { StoreProblem } from "../contract.ts";

export type Checkpoint = "PASSIVE" | "RESTART" | "TRUNCATE";

/** A body that stands in a journal. */
export interface JournalBody {
  readonly key: number;
  readonly owner: number | null;
  readonly hash: string;
  readonly journal: number;
  readonly offset: number;
}

export type Request =
  /** fsync these files, then, if asked, move the write-ahead log into the database. */
  | { readonly type: "sync"; readonly files: readonly string[]; readonly checkpoint: Checkpoint | null }
  /** Cut all bodies of the journals into chunks and give back frames; each must be acknowledged by `adopted` before the next comes. */
  | { readonly type: "compact" }
  | { readonly type: "verify" };

export interface NewChunk {
  readonly key: number;
  readonly hash: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** A part of a compaction that can be committed by itself: perhaps a frame of new chunks, and the bodies that are now complete. */
export interface PackedPart {
  readonly frame: { readonly bytes: Uint8Array; readonly length: number; readonly chunks: readonly NewChunk[] } | null;
  readonly bodies: readonly { readonly key: number; readonly journal: number; readonly recipe: Uint8Array }[];
}

export type ToWorker =
  | { readonly type: "request"; readonly id: number; readonly request: Request }
  | { readonly type: "adopted"; readonly id: number; readonly go: boolean }
  | { readonly type: "end" };

export type FromWorker =
  | { readonly type: "part"; readonly id: number; readonly part: PackedPart }
  | { readonly type: "done"; readonly id: number; readonly problems: readonly StoreProblem[] }
  | { readonly type: "failed"; readonly id: number; readonly message: string };
