/**
 * Files of a task package: what `.harborignore` leaves out, and links that must not lead out of the package. One instance looks at
 * each path once; it is for one check, while nobody writes to the package.
 */
import { readdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { compareCodePoints, exists, isFolder, lstatOrNull, realPath, statOrNull } from "./file-system.ts";
import { type IgnoreRules, IgnoreSyntaxError, parseIgnoreRules } from "./ignore-rules.ts";

/** A fault of one file or folder of the package; `file` is relative to it. */
export class PackageFileError extends Error {
  readonly file: string;
  readonly line: number;
  constructor(file: string, message: string, line = 1) {
    super(message);
    this.file = file;
    this.line = line;
  }
}

export const ignoreFileName = ".harborignore";

/** The text of a file, or a PackageFileError that names the file that is not UTF-8. */
export async function readPackageText(root: string, file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(join(root, file)));
  } catch (error) {
    if (error instanceof TypeError) throw new PackageFileError(file, `${file} is not UTF-8 text.`);
    throw error;
  }
}

/** What is at a path, links followed; `size` is that of a plain file. */
export interface PackageEntry {
  readonly kind: "file" | "folder" | "other" | "missing";
  readonly link: boolean;
  readonly size: number;
}

export class PackageFiles {
  readonly root: string;
  readonly #rules = new Map<string, Promise<IgnoreRules | null>>();
  readonly #entries = new Map<string, Promise<PackageEntry>>();
  readonly #reals = new Map<string, Promise<string>>();
  readonly #excluded = new Map<string, Promise<boolean>>();

  private constructor(root: string) {
    this.root = root;
  }

  static async open(folder: string): Promise<PackageFiles> {
    return new PackageFiles(await realpath(folder));
  }

  /** Path relative to the package, with forward slashes. */
  relative(path: string): string {
    return relative(this.root, path).split(sep).join("/");
  }

  entry(path: string): Promise<PackageEntry> {
    return once(this.#entries, path, async () => {
      const own = await lstatOrNull(path);
      const link = own?.isSymbolicLink() ?? false;
      const found = link ? await statOrNull(path) : own;
      const kind = found === null ? "missing" : found.isDirectory() ? "folder" : found.isFile() ? "file" : "other";
      return { kind, link, size: found?.size ?? 0 };
    });
  }

  /** Where the path really is. */
  #real(path: string): Promise<string> {
    return once(this.#reals, path, async () => {
      if (path === this.root) return path;
      const { link } = await this.entry(path);
      return link || !this.#contains(path) ? realPath(path) : join(await this.#real(dirname(path)), basename(path));
    });
  }

  #contains(path: string): boolean {
    return path === this.root || path.startsWith(`${this.root}${sep}`);
  }

  /** Rules of one folder; null outside tests/ and solution/ folders or without a file. */
  #rulesOf(folder: string): Promise<IgnoreRules | null> {
    return once(this.#rules, folder, async () => {
      if (!inIgnoreScope(this.relative(folder), true)) return null;
      const path = join(folder, ignoreFileName);
      const file = this.relative(path);
      const { kind, link } = await this.entry(path);
      if (kind === "missing" && !link) return null;
      await this.checkTree(path, false);
      if (kind !== "file") throw new PackageFileError(file, `${file} must be a regular file.`);
      try {
        return parseIgnoreRules(await readPackageText(this.root, file), "git");
      } catch (error) {
        if (error instanceof IgnoreSyntaxError) throw new PackageFileError(file, error.message, error.line);
        throw error;
      }
    });
  }

  async #matches(path: string): Promise<boolean> {
    if (basename(path) === ignoreFileName) return true;
    if (!inIgnoreScope(this.relative(path), true)) return false;
    const inherited: { readonly folder: string; readonly rules: IgnoreRules }[] = [];
    let candidate = this.root;
    for (const part of relative(this.root, path).split(sep)) {
      const rules = await this.#rulesOf(candidate);
      if (rules !== null) inherited.push({ folder: candidate, rules });
      candidate = join(candidate, part);
      if (inherited.length === 0) continue;
      const asFolder = candidate !== path || (await this.entry(path)).kind === "folder";
      if (!inIgnoreScope(this.relative(candidate), asFolder)) continue;
      let excluded = false;
      for (const entry of inherited) {
        const local = relative(entry.folder, candidate).split(sep).join("/");
        excluded = entry.rules.decide(asFolder ? `${local}/` : local) ?? excluded;
      }
      if (excluded) return true;
    }
    return false;
  }

  /** Whether `.harborignore` leaves the path, or what it links to inside the package, out. */
  isExcluded(path: string): Promise<boolean> {
    return once(this.#excluded, path, async () => {
      if (!this.#contains(path) || path === this.root) return false;
      if (await this.#matches(path)) return true;
      const real = await this.#real(path);
      return real !== path && real !== this.root && this.#contains(real) && (await this.#matches(real));
    });
  }

  /** Git and archives write a link as a small file with its target where links cannot be had; what such a link did wrong, or null. */
  async #flattenedLinkProblem(path: string): Promise<string | null> {
    const { kind, link, size } = await this.entry(path);
    if (kind !== "file" || link || size > 255) return null;
    const text = await readFile(path, "utf8");
    if (!/^\.{1,2}(?:\/[^\n\0]*[^\s])?$/.test(text)) return null;
    const target = resolve(path, "..", text);
    if (!this.#contains(target)) return (await exists(target)) ? "was a link out of the task package" : null;
    return (await isFolder(target)) && path.startsWith(`${target}${sep}`) ? "was a link to a folder that contains it" : null;
  }

  /** Throws when something below `path` links out of the package or in a circle. */
  async checkTree(path: string, honourIgnores = true): Promise<void> {
    const checked = new Set<string>();
    const visit = async (candidate: string, ancestors: ReadonlySet<string>): Promise<void> => {
      if (honourIgnores && (await this.isExcluded(candidate))) return;
      const real = await this.#real(candidate);
      const file = this.relative(candidate);
      if (!this.#contains(real)) throw new PackageFileError(file, `${file} links out of the task package; copy what it points at.`);
      const flattened = await this.#flattenedLinkProblem(candidate);
      if (flattened !== null) throw new PackageFileError(file, `${file} ${flattened} and is now only its text; copy what it pointed at.`);
      if ((await this.entry(candidate)).kind !== "folder") return;
      if (ancestors.has(real)) throw new PackageFileError(file, `${file} links to a folder that contains it.`);
      if (!honourIgnores && checked.has(real)) return;
      const below = new Set([...ancestors, real]);
      for (const name of await readdir(candidate)) await visit(join(candidate, name), below);
      checked.add(real);
    };
    await visit(path, new Set());
  }

  /** Entries below `folder` that are kept, links not followed, in order; absolute paths. */
  async select(folder: string): Promise<string[]> {
    if (await this.isExcluded(folder)) return [];
    const kept: string[] = [];
    const visit = async (current: string): Promise<void> => {
      const entries = await readdir(current, { withFileTypes: true });
      for (const entry of entries.sort((left, right) => compareCodePoints(left.name, right.name))) {
        const path = join(current, entry.name);
        if (await this.isExcluded(path)) continue;
        kept.push(path);
        if (entry.isDirectory()) await visit(path);
      }
    };
    await visit(folder);
    return kept;
  }
}

function once<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined) return found;
  const answer = find();
  known.set(key, answer);
  return answer;
}

/** `.harborignore` works in tests/ and solution/ folders, those of steps included. */
export function inIgnoreScope(path: string, folder: boolean): boolean {
  return /^(?:tests|solution|steps\/[^/]+\/(?:tests|solution))\//.test(folder ? `${path}/` : path);
}

/**
 * Files and folders below one folder of a package that `.harborignore` keeps, links to folders followed; absolute paths, each folder
 * before what it holds. Throws PackageFileError when a link leads out of the package.
 */
export async function selectFiles(packageFolder: string, folder: string): Promise<readonly string[]> {
  const files = await PackageFiles.open(packageFolder);
  const start = join(files.root, folder);
  await files.checkTree(start);
  const kept: string[] = [];
  const visit = async (current: string): Promise<void> => {
    for (const path of await files.select(current)) {
      kept.push(path);
      const { link, kind } = await files.entry(path);
      const linked = link && kind === "folder";
      if (linked) await visit(path);
    }
  };
  if (await isFolder(start)) await visit(start);
  return kept;
}
