/** Files of a task package: what `.harborignore` leaves out, and links that must not lead out of the package. */
import { lstat, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
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

/** Order of code points, as Python sorts; JavaScript's default order is that of UTF-16 units. */
export function compareCodePoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left, "utf8"), Buffer.from(right, "utf8"));
}

export async function exists(path: string): Promise<boolean> {
  return (await statOrNull(path)) !== null;
}

export async function isFolder(path: string): Promise<boolean> {
  return (await statOrNull(path))?.isDirectory() ?? false;
}

export async function isFile(path: string): Promise<boolean> {
  return (await statOrNull(path))?.isFile() ?? false;
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown) =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ELOOP");

/** Where a path really is, links to nowhere followed too; a part that does not exist stays as written. */
async function realPath(path: string, linksLeft = 40): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const parent = resolve(path, "..");
  if (parent === path) return path;
  const place = join(await realPath(parent, linksLeft), basename(path));
  const isLink = linksLeft > 0 && (await lstatOrNull(place))?.isSymbolicLink();
  return isLink ? realPath(resolve(place, "..", await readlink(place)), linksLeft - 1) : place;
}

/** The text of a file, or a PackageFileError that names the line that is not UTF-8. */
export async function readPackageText(root: string, file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(join(root, file)));
  } catch (error) {
    if (error instanceof TypeError) throw new PackageFileError(file, `${file} is not UTF-8 text.`);
    throw error;
  }
}

export class PackageFiles {
  readonly root: string;
  readonly #rules = new Map<string, IgnoreRules | null>();

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

  #contains(path: string): boolean {
    return path === this.root || path.startsWith(`${this.root}${sep}`);
  }

  /** Rules of one folder; null outside tests/ and solution/ folders or without a file. */
  async #rulesOf(folder: string): Promise<IgnoreRules | null> {
    if (!inIgnoreScope(this.relative(folder), true)) return null;
    const known = this.#rules.get(folder);
    if (known !== undefined) return known;
    const path = join(folder, ignoreFileName);
    const file = this.relative(path);
    let rules: IgnoreRules | null = null;
    await this.checkTree(path, false);
    if (await lstatOrNull(path)) {
      if (!(await isFile(path))) throw new PackageFileError(file, `${file} must be a regular file.`);
      try {
        rules = parseIgnoreRules(await readPackageText(this.root, file), "git");
      } catch (error) {
        if (error instanceof IgnoreSyntaxError) throw new PackageFileError(file, error.message, error.line);
        throw error;
      }
    }
    this.#rules.set(folder, rules);
    return rules;
  }

  async #matches(path: string): Promise<boolean> {
    if (basename(path) === ignoreFileName) return true;
    const folder = await isFolder(path);
    if (!inIgnoreScope(this.relative(path), folder)) return false;
    const inherited: { readonly folder: string; readonly rules: IgnoreRules }[] = [];
    let candidate = this.root;
    for (const part of relative(this.root, path).split(sep)) {
      const rules = await this.#rulesOf(candidate);
      if (rules !== null) inherited.push({ folder: candidate, rules });
      candidate = join(candidate, part);
      const asFolder = candidate !== path || folder;
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
  async isExcluded(path: string): Promise<boolean> {
    if (!this.#contains(path) || path === this.root) return false;
    if (await this.#matches(path)) return true;
    const real = await realPath(path);
    return real !== path && real !== this.root && this.#contains(real) && (await this.#matches(real));
  }

  /** Git and archives write a link as a small file with its target where links cannot be had; what such a link did wrong, or null. */
  async #flattenedLinkProblem(path: string): Promise<string | null> {
    const found = await lstatOrNull(path);
    if (found === null || !found.isFile() || found.size > 255) return null;
    const text = await readFile(path, "utf8");
    if (!/^\.{1,2}(?:\/[^\n\0]*[^\s])?$/.test(text)) return null;
    const target = resolve(path, "..", text);
    if (!(await isFolder(target))) return this.#contains(target) || !(await exists(target)) ? null : "was a link out of the task package";
    if (!this.#contains(target)) return "was a link out of the task package";
    return path.startsWith(`${target}${sep}`) ? "was a link to a folder that contains it" : null;
  }

  /** Throws when something below `path` links out of the package or in a circle. */
  async checkTree(path: string, honourIgnores = true): Promise<void> {
    const checked = new Set<string>();
    const visit = async (candidate: string, ancestors: ReadonlySet<string>): Promise<void> => {
      if (honourIgnores && (await this.isExcluded(candidate))) return;
      const real = await realPath(candidate);
      const file = this.relative(candidate);
      if (!this.#contains(real)) throw new PackageFileError(file, `${file} links out of the task package; copy what it points at.`);
      const flattened = await this.#flattenedLinkProblem(candidate);
      if (flattened !== null) throw new PackageFileError(file, `${file} ${flattened} and is now only its text; copy what it pointed at.`);
      if (!(await isFolder(candidate))) return;
      if (ancestors.has(real)) throw new PackageFileError(file, `${file} links to a folder that contains it.`);
      if (!honourIgnores && checked.has(real)) return;
      for (const name of await readdir(candidate)) await visit(join(candidate, name), new Set([...ancestors, real]));
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

async function lstatOrNull(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
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
      const linked = (await lstat(path)).isSymbolicLink() && (await isFolder(path));
      if (linked) await visit(path);
    }
  };
  if (await isFolder(start)) await visit(start);
  return kept;
}
