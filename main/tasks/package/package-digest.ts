/**
 * The two names of a task package's content. `digest` (`sha256:…`) counts the files that make up the task;
 * `checksum` counts every file of the folder. Both are Harbor 0.26's, bit for bit.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { compareCodePoints, exists } from "./file-system.ts";
import { IgnoreSyntaxError, parseIgnoreRules } from "./ignore-rules.ts";
import { PackageFileError, PackageFiles, readPackageText } from "./package-files.ts";

const singleFiles = ["task.toml", "instruction.md", "README.md", "trajectory.json"];
const folders = ["environment", "tests", "solution", "steps"];
const defaultIgnores = "__pycache__/\n*.pyc\n.DS_Store\n*.swp\n*.swo\n*~\n";

/** Files that the digest counts, relative to the package and sorted by code point. Throws PackageFileError. */
export async function digestFiles(folder: string): Promise<string[]> {
  return filesOfDigest(await PackageFiles.open(folder));
}

async function filesOfDigest(files: PackageFiles): Promise<string[]> {
  const found: string[] = [];
  for (const name of singleFiles) {
    const { kind } = await files.entry(join(files.root, name));
    if (kind === "missing") continue;
    if (kind !== "file") throw new PackageFileError(name, `${name} must be a file.`);
    found.push(name);
  }
  for (const name of folders) {
    const path = join(files.root, name);
    const { kind } = await files.entry(path);
    if (kind === "missing") continue;
    if (kind !== "folder") throw new PackageFileError(name, `${name} must be a folder.`);
    for (const entry of await files.select(path)) if ((await files.entry(entry)).kind === "file") found.push(files.relative(entry));
  }
  const ignores = (await exists(join(files.root, ".gitignore"))) ? await readPackageText(files.root, ".gitignore") : defaultIgnores;
  try {
    const rules = parseIgnoreRules(ignores, "basic");
    return found.filter((file) => rules.decide(file) !== true).sort(compareCodePoints);
  } catch (error) {
    if (error instanceof IgnoreSyntaxError) throw new PackageFileError(".gitignore", error.message, error.line);
    throw error;
  }
}

export interface PackageNames {
  readonly digest: string;
  readonly checksum: string;
}

/** Both names, each file read once. Throws PackageFileError. */
export async function packageNames(files: PackageFiles): Promise<PackageNames> {
  const hashes = new FileHashes(files);
  return { digest: await digestOf(files, hashes), checksum: await checksumOf(files, hashes) };
}

/** `sha256:<hex>` over `<path>\0<sha256 of bytes>\n` of each counted file. Throws PackageFileError. */
export async function taskDigest(folder: string): Promise<string> {
  const files = await PackageFiles.open(folder);
  return digestOf(files, new FileHashes(files));
}

/** Bare hex: a hash of the whole folder tree, links followed, empty folders left out. Throws PackageFileError. */
export async function taskChecksum(folder: string): Promise<string> {
  const files = await PackageFiles.open(folder);
  return checksumOf(files, new FileHashes(files));
}

async function digestOf(files: PackageFiles, hashes: FileHashes): Promise<string> {
  const outer = createHash("sha256");
  for (const file of await filesOfDigest(files)) outer.update(`${file}\0${await hashes.of(join(files.root, file))}\n`);
  return `sha256:${outer.digest("hex")}`;
}

async function checksumOf(files: PackageFiles, hashes: FileHashes): Promise<string> {
  return (await hashFolder(files, hashes, files.root, new Set([files.root]))) ?? createHash("sha256").digest("hex");
}

async function hashFolder(files: PackageFiles, hashes: FileHashes, folder: string, ancestors: ReadonlySet<string>): Promise<string | null> {
  const lines: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (await files.isExcluded(path)) continue;
    const { kind, link } = await files.entry(path);
    if (kind === "folder") {
      const real = await realpath(path);
      if (link && ancestors.has(real))
        throw new PackageFileError(files.relative(path), `${files.relative(path)} links to a folder that contains it.`);
      const hash = await hashFolder(files, hashes, path, new Set([...ancestors, real]));
      if (hash !== null) lines.push(`dirhash:${hash}\0name:${name}`);
    } else if (kind === "file") lines.push(`data:${await hashes.of(path)}\0name:${name}`);
  }
  if (lines.length === 0) return null;
  return createHash("sha256").update(lines.sort(compareCodePoints).join("\0\0"), "utf8").digest("hex");
}

/** Beyond this a file is hashed in pieces. */
const wholeFileBytes = 4 * 1024 ** 2;

/** SHA-256 of files, each read once. */
class FileHashes {
  readonly #files: PackageFiles;
  readonly #known = new Map<string, string>();

  constructor(files: PackageFiles) {
    this.#files = files;
  }

  async of(path: string): Promise<string> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const hash = createHash("sha256");
    if ((await this.#files.entry(path)).size <= wholeFileBytes) hash.update(await readFile(path));
    else await pipeline(createReadStream(path), hash);
    const hex = hash.digest("hex");
    this.#known.set(path, hex);
    return hex;
  }
}
