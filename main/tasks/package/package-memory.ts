/**
 * What was found out about packages, kept for as long as nothing in them changes. Eight rollouts of one task read it once; a package that
 * was edited, even between two of them, is read anew. Packages with links or very many files are never kept.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const entryLimit = 500;
const packageLimit = 500;
/** A file that was written while it was read may still bear the time of before: the clock of file systems ticks slowly. */
const settledMs = 100;

interface State {
  /** Every entry with what the kernel changes when it changes. */
  readonly signature: string;
  /** Newest change, milliseconds since 1970. */
  readonly changedAt: number;
}

export class PackageMemory<T> {
  readonly #known = new Map<string, { readonly signature: string; readonly value: T }>();

  /** The value for the package in `root`, computed unless it is known of exactly this state. Only what `keep` says is kept. */
  async of(root: string, compute: () => Promise<T>, keep: (value: T) => boolean = () => true): Promise<T> {
    const before = stateOf(root);
    const known = this.#known.get(root);
    if (before !== null && known !== undefined && known.signature === before.signature) return known.value;
    this.#known.delete(root);
    const startedAt = Date.now();
    const value = await compute();
    if (before === null || before.changedAt > startedAt - settledMs || !keep(value) || stateOf(root)?.signature !== before.signature) return value;
    if (this.#known.size >= packageLimit) for (const oldest of [...this.#known.keys()].slice(0, packageLimit / 10)) this.#known.delete(oldest);
    this.#known.set(root, { signature: before.signature, value });
    return value;
  }
}

/** Null for what cannot be told by its entries alone. */
function stateOf(root: string): State | null {
  const lines: string[] = [];
  let changedAt = 0;
  const visit = (path: string, name: string): boolean => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || lines.length >= entryLimit || !(found.isDirectory() || found.isFile())) return false;
    lines.push(`${name}\0${found.dev}:${found.ino}:${found.mode}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`);
    changedAt = Math.max(changedAt, found.ctimeMs);
    return !found.isDirectory() || readdirSync(path).every((child) => visit(join(path, child), `${name}/${child}`));
  };
  return visit(root, "") ? { signature: lines.join("\n"), changedAt } : null;
}
