/**
 * The two names of a task package's content. `digest` (`sha256:…`) counts the files that make up the task;
 * `checksum` counts every file of the folder. Both are Harbor 0.26's, bit for bit.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { IgnoreSyntaxError, parseIgnoreRules } from "./ignore-rules.ts";
import { compareCodePoints, exists, isFile, isFolder, PackageFileError, PackageFiles, readPackageText } from "./package-files.ts";

const singleFiles = ["task.toml", "instruction.md", "README.md", "trajectory.json"];
const folders = ["environment", "tests", "solution", "steps"];
const defaultIgnores = "__pycache__/\n*.pyc\n.DS_Store\n*.swp\n*.swo\n*~\n";

/** Files that the digest counts, relative to the package and sorted by code point. */
export async function digestFiles(folder: string): Promise<string[]> {
  const files = await PackageFiles.open(folder);
  const found: string[] = [];
  for (const name of singleFiles) {
    if (!(await exists(join(files.root, name)))) continue;
    if (!(await isFile(join(files.root, name)))) throw new PackageFileError(name, `${name} must be a file.`);
    found.push(name);
  }
  for (const name of folders) {
    const path = join(files.root, name);
    if (!(await exists(path))) continue;
    if (!(await isFolder(path))) throw new PackageFileError(name, `${name} must be a folder.`);
    for (const entry of await files.select(path)) if (await isFile(entry)) found.push(files.relative(entry));
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

/** `sha256:<hex>` over `<path>\0<sha256 of bytes>\n` of each counted file. Throws PackageFileError. */
export async function taskDigest(folder: string): Promise<string> {
  const outer = createHash("sha256");
  for (const file of await digestFiles(folder)) outer.update(`${file}\0${await hashFile(join(folder, file))}\n`);
  return `sha256:${outer.digest("hex")}`;
}

/** Bare hex: a hash of the whole folder tree, links followed, empty folders left out. Throws PackageFileError. */
export async function taskChecksum(folder: string): Promise<string> {
  const files = await PackageFiles.open(folder);
  return (await hashFolder(files, files.root, new Set([files.root]))) ?? createHash("sha256").update("").digest("hex");
}

async function hashFolder(files: PackageFiles, folder: string, ancestors: ReadonlySet<string>): Promise<string | null> {
  const lines: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (await files.isExcluded(path)) continue;
    if (await isFolder(path)) {
      const real = await realpath(path);
      if (entry.isSymbolicLink() && ancestors.has(real)) {
        throw new PackageFileError(files.relative(path), `${files.relative(path)} links to a folder that contains it.`);
      }
      const hash = await hashFolder(files, path, new Set([...ancestors, real]));
      if (hash !== null) lines.push(`dirhash:${hash}\0name:${entry.name}`);
    } else if (await isFile(path)) lines.push(`data:${await hashFile(path)}\0name:${entry.name}`);
  }
  if (lines.length === 0) return null;
  return createHash("sha256").update(lines.sort(compareCodePoints).join("\0\0"), "utf8").digest("hex");
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
