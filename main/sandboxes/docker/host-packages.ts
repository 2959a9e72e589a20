/** A root file system out of this machine's own Debian packages: their files, what their install scripts made, and nothing of its users. */
import { execFile, spawn } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);

interface HostPackage {
  readonly name: string;
  /** Needed names, the alternatives of each in order. */
  readonly needs: readonly (readonly string[])[];
  /** Its paragraph in dpkg's database. */
  readonly paragraph: string;
}

/** By name and by what they provide. */
export type HostPackages = ReadonlyMap<string, HostPackage>;

const database = "/var/lib/dpkg/status";
const leftOut = /^\/usr\/share\/(doc|man|locale|info|lintian|bug|bash-completion)\//;
/** Made by install scripts, owned by no package; nothing in it is this machine's secret. */
const madeByScripts = ["/etc/ssl/certs", "/etc/alternatives", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.cache"];
const mergedFolders = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** Null on a machine whose distribution is not a Debian. */
export async function hostPackages(): Promise<HostPackages | null> {
  const text = await readFile(database, "utf8").catch(() => "");
  const packages = parsePackages(text);
  return packages.size === 0 ? null : packages;
}

/** Installed packages out of dpkg's database. */
export function parsePackages(text: string): HostPackages {
  const packages = new Map<string, HostPackage>();
  const provided = new Map<string, HostPackage>();
  for (const paragraph of text.split("\n\n")) {
    const fields = new Map([...paragraph.matchAll(/^([A-Za-z-]+): ?(.*(?:\n[ \t].*)*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
    const name = fields.get("Package");
    if (name === undefined || fields.get("Status") !== "install ok installed") continue;
    const needs = [fields.get("Pre-Depends"), fields.get("Depends")].flatMap((list) => dependencies(list ?? ""));
    const found = { name, needs, paragraph: paragraph.trim() };
    packages.set(name, found);
    for (const [virtual] of dependencies(fields.get("Provides") ?? "")) if (virtual !== undefined) provided.set(virtual, found);
  }
  return new Map([...provided, ...packages]);
}

/** `a (>= 1) | b, c:any` → [["a", "b"], ["c"]] */
function dependencies(list: string): readonly (readonly string[])[] {
  const groups = list.split(",").map((group) =>
    group.split("|").map((one) =>
      one
        .replace(/\(.*?\)|\[.*?\]/g, "")
        .trim()
        .replace(/:\w+$/, ""),
    ),
  );
  return groups.map((group) => group.filter(Boolean)).filter((group) => group.length > 0);
}

/** The wanted packages that are installed, and all that these need. */
export function packageClosure(installed: HostPackages, wanted: readonly string[]): readonly HostPackage[] {
  const chosen = new Map<string, HostPackage>();
  const queue = wanted.map((name) => installed.get(name));
  while (queue.length > 0) {
    const next = queue.pop();
    if (next === undefined || chosen.has(next.name)) continue;
    chosen.set(next.name, next);
    for (const alternatives of next.needs) {
      const name = alternatives.find((one) => installed.has(one));
      if (name !== undefined) queue.push(installed.get(name));
    }
  }
  return [...chosen.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface PackedRoot {
  readonly archive: Readable;
  readonly done: Promise<void>;
  readonly packages: number;
  readonly files: number;
  clean(): Promise<void>;
}

export async function packHostPackages(installed: HostPackages, wanted: readonly string[], signal: AbortSignal): Promise<PackedRoot> {
  const chosen = packageClosure(installed, wanted);
  const files = await filesOf(chosen);
  const staging = await mkdtemp(join(tmpdir(), "openforge-base-"));
  const clean = (): Promise<void> => rm(staging, { recursive: true, force: true });
  try {
    const made = await writeOwnFiles(join(staging, "root"), chosen);
    const own = new Set(made);
    const fromPackages = files.map((path) => path.slice(1)).filter((path) => !own.has(path));
    await writeFile(join(staging, "host-files"), fromPackages.map((path) => `${path}\0`).join(""));
    await writeFile(join(staging, "own-files"), made.map((path) => `${path}\0`).join(""));
  } catch (error) {
    await clean();
    throw error;
  }
  const fromHost = ["-C", "/", "--null", "--verbatim-files-from", "-T", join(staging, "host-files")];
  const own = ["-C", join(staging, "root"), "--null", "--verbatim-files-from", "-T", join(staging, "own-files")];
  const args = ["-c", "-f", "-", "--no-recursion", "--numeric-owner", "--owner=0", "--group=0", "--ignore-failed-read", ...fromHost, ...own];
  const child = spawn("tar", args, { cwd: "/", signal, stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-1000);
  });
  const done = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`tar: ${complaint.trim()}`))));
  });
  done.catch((error: Error) => child.stdout.destroy(error));
  return { archive: child.stdout, done, packages: chosen.length, files: files.length, clean };
}

async function filesOf(packages: readonly HostPackage[]): Promise<readonly string[]> {
  const { stdout } = await run("dpkg-query", ["-L", ...packages.map(({ name }) => name)], { maxBuffer: 256 * 1024 ** 2 });
  const merged = await mergedPrefixes();
  const wanted = new Set<string>();
  for (const line of stdout.split("\n")) {
    if (!line.startsWith("/") || line === "/." || leftOut.test(line)) continue;
    const prefix = merged.find((one) => line.startsWith(`${one}/`));
    wanted.add(prefix === undefined ? line : `/usr${line}`);
  }
  for (const path of madeByScripts) for (const found of await everythingBelow(path)) wanted.add(found);
  for (const path of await alternatives(wanted)) wanted.add(path);
  for (const name of mergedFolders) if (await exists(`/${name}`)) wanted.add(`/${name}`);
  const there = await Promise.all([...wanted].map(async (path) => ((await exists(path)) ? path : null)));
  // A folder comes before what it holds.
  return there.filter((path) => path !== null).sort();
}

/** Top-level folders that are links into /usr: packages still list their files by the old names. */
async function mergedPrefixes(): Promise<readonly string[]> {
  const links = await Promise.all(
    mergedFolders.map(async (name) =>
      readlink(`/${name}`).then(
        () => `/${name}`,
        () => null,
      ),
    ),
  );
  return links.filter((path) => path !== null);
}

/** Links such as /usr/bin/awk → /etc/alternatives/awk whose program is among the files. */
async function alternatives(files: ReadonlySet<string>): Promise<readonly string[]> {
  const names = await readdir("/usr/bin");
  const found = await Promise.all(
    names.map(async (name) => {
      const path = `/usr/bin/${name}`;
      const target = await readlink(path).catch(() => null);
      if (target === null || files.has(path)) return null;
      return files.has(await realpath(path).catch(() => "")) ? path : null;
    }),
  );
  return found.filter((path) => path !== null);
}

async function everythingBelow(path: string): Promise<readonly string[]> {
  const stat = await lstat(path).catch(() => null);
  if (stat === null) return [];
  if (!stat.isDirectory()) return [path];
  const below = await Promise.all((await readdir(path)).map((name) => everythingBelow(join(path, name))));
  return [path, ...below.flat()];
}

/** Folders, accounts and a package database that say nothing about this machine. Paths relative to the root, parents first. */
async function writeOwnFiles(root: string, packages: readonly HostPackage[]): Promise<readonly string[]> {
  const folders: readonly (readonly [string, number])[] = [
    ...["proc", "sys", "dev", "root", "home", "run", "mnt", "opt", "srv", "app", "usr/local/bin", "var/lib/dpkg"].map(
      (path) => [path, 0o755] as const,
    ),
    ["tmp", 0o1777],
    ["var/tmp", 0o1777],
  ];
  const accounts = ["root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"];
  const files: readonly (readonly [string, string])[] = [
    ["etc/passwd", `${accounts.join("\n")}\n`],
    ["etc/group", "root:x:0:\nnogroup:x:65534:\n"],
    ["etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"],
    [database.slice(1), `${packages.map(({ paragraph }) => paragraph).join("\n\n")}\n`],
  ];
  for (const [path, mode] of folders) {
    await mkdir(join(root, path), { recursive: true });
    await run("chmod", [mode.toString(8), join(root, path)]);
  }
  for (const [path, text] of files) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text, { mode: 0o644 });
  }
  return [...folders.map(([path]) => path), ...files.map(([path]) => path)];
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
