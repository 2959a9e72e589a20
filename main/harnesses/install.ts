/**
 * Brings exactly one version of a harness into its own folder. Atomic: everything happens in a folder beside the target, which
 * appears by a rename; a folder that is there is whole. Two services that install at once end with one of the two results.
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { arch } from "node:os";
import { basename, dirname, join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import type { HarnessMount } from "../sandboxes/index.ts";
import { keepOnly } from "./keep.ts";
import type { HarnessManifest } from "./manifest.ts";
import { runInstaller } from "./run-installer.ts";
import { fillIn } from "./values.ts";

export interface HarnessInstall {
  readonly manifest: HarnessManifest;
  /** Folder of manifest.yaml. */
  readonly manifestFolder: string;
  readonly target: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Sandboxes are Linux boxes on this machine's processor. */
export function sandboxArchitecture(): string {
  return arch() === "arm64" ? "arm64" : "x64";
}

/** Where an install of this manifest lies: what is installed is in the name, so that an edited manifest installs anew. */
export function installFolder(cacheFolder: string, manifest: HarnessManifest): string {
  const key = createHash("sha256").update(JSON.stringify(manifest.install)).digest("hex").slice(0, 8);
  return join(cacheFolder, `${manifest.id}-${manifest.version}-${sandboxArchitecture()}-${key}`);
}

/** Installs unless the folder is there; a failure leaves nothing behind and says in one sentence what to do. */
export async function installHarness(work: HarnessInstall): Promise<HarnessMount> {
  const { manifest, target } = work;
  const { install } = manifest;
  if (install.kind === "bundled") return bundled(join(work.manifestFolder, install.path), manifest);
  if (await isFolder(target)) return { hostFolder: target, version: basename(target) };

  await mkdir(dirname(target), { recursive: true });
  const beside = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    work.onProgress(`Installing ${manifest.name} ${manifest.version}`);
    await fetchInto(beside, work, install);
    // The programs in a sandbox need not be this user.
    await chmod(beside, 0o755);
    work.onProgress(`Installed ${manifest.name} ${manifest.version}`);
    await rename(beside, target).catch(async (error: NodeJS.ErrnoException) => {
      const wasFirst = (error.code === "ENOTEMPTY" || error.code === "EEXIST") && (await isFolder(target));
      if (!wasFirst) throw error;
    });
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
  return { hostFolder: target, version: basename(target) };
}

type Installer = (command: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<void>;
type Fetched = Exclude<HarnessManifest["install"], { kind: "bundled" }>;

async function fetchInto(folder: string, work: HarnessInstall, install: Fetched): Promise<void> {
  const { manifest } = work;
  const architecture = sandboxArchitecture();
  const named = (text: string): string => fillIn(text, { arch: architecture, version: manifest.version }, `install of harness ${manifest.id}`);
  const run: Installer = (command, args, env = {}) =>
    runInstaller({
      harness: manifest.id,
      command,
      args,
      env,
      cwd: folder,
      onProgress: work.onProgress,
      signal: work.signal,
    });

  switch (install.kind) {
    case "npm": {
      const packages = [install.package, ...install.extra].map(named);
      const scripts = install.scripts ?? [];
      const allowScripts = Object.fromEntries(scripts.map((name) => [name, true]));
      await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, allowScripts })}\n`);
      const network = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"];
      // Under `npm test --silent` and its like the level is inherited, and a failure would come without its words.
      const quiet = ["--loglevel=warn", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--no-progress"];
      await run("npm", ["install", ...quiet, ...network, "--os=linux", `--cpu=${architecture}`, ...packages]);
      await checkVersion(folder, packages[0] ?? "", manifest);
      if (scripts.length > 0) await run("npm", ["rebuild", "--loglevel=warn", "--ignore-scripts=false", ...scripts]);
      if (install.keep !== undefined) await keepOnly(folder, install.keep.map(named));
      return;
    }
    case "pip":
      await run("python3", ["-m", "pip", "install", "--quiet", "--no-input", "--target", folder, ...[install.package, ...install.extra].map(named)]);
      return;
    case "cargo":
      await buildCrate(folder, install, named, run);
      return;
  }
}

type Crate = Extract<Fetched, { kind: "cargo" }>;

/** Builds one crate as its own lock file says; `bin/` is what stays of it. A target folder that the caller shares is used and kept. */
async function buildCrate(folder: string, install: Crate, named: (text: string) => string, run: Installer): Promise<void> {
  const choice = [
    ...(install.features.length === 0 ? [] : ["--features", install.features.join(",")]),
    ...(install.defaultFeatures ? [] : ["--no-default-features"]),
    ...(install.program === undefined ? [] : ["--bin", install.program]),
    ...(install.ignoreRustVersion ? ["--ignore-rust-version"] : []),
  ];
  const profile = Object.fromEntries(
    Object.entries(install.profile).map(([name, value]) => [`CARGO_PROFILE_RELEASE_${name.toUpperCase().replaceAll("-", "_")}`, String(value)]),
  );
  const own = join(folder, "target");
  await run("cargo", ["install", "--locked", "--no-track", "--color=never", "--root", folder, ...choice, named(install.package)], {
    ...profile,
    CARGO_TARGET_DIR: process.env.CARGO_TARGET_DIR ?? own,
    // Without a terminal it would not say how much is left.
    CARGO_TERM_PROGRESS_WHEN: "always",
    CARGO_TERM_PROGRESS_WIDTH: "60",
  });
  await rm(own, { recursive: true, force: true });
}

/** npm on an old Node quietly takes another version when the wanted one asks for a newer Node. */
async function checkVersion(folder: string, wanted: string, manifest: HarnessManifest): Promise<void> {
  const at = wanted.lastIndexOf("@");
  const name = wanted.slice(0, at);
  const text = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version?: unknown };
  if (version === wanted.slice(at + 1)) return;
  throw new WorkbenchError(
    "harness",
    `npm installed ${name} ${String(version)} in place of ${wanted}.`,
    `Give an exact version in the manifest of ${manifest.id}.`,
  );
}

/** What ships is used where it lies; the key is of its content, so that an edited agent is copied into images anew. */
async function bundled(path: string, manifest: HarnessManifest): Promise<HarnessMount> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isDirectory()) {
    throw new WorkbenchError(
      "harness",
      `Harness ${manifest.id} says that it is in ${path}, which is no folder.`,
      "Correct install.path in its manifest.",
      { exitCode: 2 },
    );
  }
  const folder = await realpath(path);
  return { hostFolder: folder, version: `${manifest.id}-${manifest.version}-${await folderKey(folder)}` };
}

/** By folder: names, sizes and times of its files, and the key of their content then. Every rollout asks, and few files change. */
const folderKeys = new Map<string, { readonly signature: string; readonly key: string }>();

async function folderKey(folder: string): Promise<string> {
  const items = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = items
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name))
    .toSorted();
  const signature = (await Promise.all(files.map(signatureOf))).join("\n");
  const known = folderKeys.get(folder);
  if (known?.signature === signature) return known.key;
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file.slice(folder.length)}\0`).update(await readFile(file));
  const key = hash.digest("hex").slice(0, 12);
  folderKeys.set(folder, { signature, key });
  return key;
}

async function signatureOf(file: string): Promise<string> {
  const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true });
  return `${file} ${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}
