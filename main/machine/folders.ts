/** Where things lie on this machine. Nothing here is created before it is used. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WorkbenchError } from "../errors.ts";

/** The data folder: `--data`, else `$OPENFORGE_HOME`, else the platform's place for application data. */
export function dataFolder(given: string | undefined): string {
  // An empty variable in a script must not fall through to the folder of everyday work.
  if (given === "") throw new WorkbenchError("usage", "--data names no folder.", "Give a folder, or leave --data out.");
  const chosen = given ?? process.env.OPENFORGE_HOME;
  if (chosen !== undefined && chosen !== "") return resolve(chosen);
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "OpenForge");
  if (process.platform === "win32") return join(process.env.APPDATA ?? join(homedir(), "AppData", "Roaming"), "OpenForge");
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "openforge");
}

/** Downloads that can be had again (harness installs, built images), shared by all data folders. */
export function cacheFolder(): string {
  const chosen = process.env.OPENFORGE_CACHE;
  if (chosen !== undefined && chosen !== "") return resolve(chosen);
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "OpenForge");
  if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "OpenForge", "Cache");
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "openforge");
}

/** The folder that holds package.json, resources/ and dist/: of a checkout and of a packaged app alike. */
export function productFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isProduct(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("the folder of the product was not found above the running file");
    folder = parent;
  }
  return folder;
}

export function productVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(productFolder(), "package.json"), "utf8"));
  return manifest.version;
}

function isProduct(folder: string): boolean {
  return lstatSync(join(folder, "package.json"), { throwIfNoEntry: false }) !== undefined;
}

/** Where `runtimeFolder` is or would be. */
export function runtimePath(data: string): string {
  const user = process.platform === "win32" ? userInfo().username : String(process.getuid?.() ?? 0);
  const { XDG_RUNTIME_DIR: given } = process.env;
  const base = join(given === undefined || given === "" ? tmpdir() : given, `openforge-${user}`);
  return join(base, createHash("sha256").update(resolve(data)).digest("hex").slice(0, 10));
}

/**
 * A short folder for sockets that only this user can enter: a socket's path may have 103 bytes at most, and a data folder can
 * lie deep. One per data folder.
 */
export function runtimeFolder(data: string): string {
  const folder = runtimePath(data);
  const base = dirname(folder);
  try {
    // One by one: Node's recursive making never ends on a file system that refuses folders (/proc).
    for (const path of [base, folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    throw new WorkbenchError(
      "unavailable",
      `The folder for sockets ${folder} cannot be made.`,
      "Set XDG_RUNTIME_DIR to a folder that you may write to.",
      {
        cause,
      },
    );
  }
  const status = lstatSync(base);
  const foreign = process.getuid !== undefined && (status.uid !== process.getuid() || (status.mode & 0o077) !== 0 || !status.isDirectory());
  if (foreign) {
    throw new WorkbenchError(
      "unavailable",
      `The folder for sockets, ${base}, can be entered by others.`,
      `Remove ${base} or set XDG_RUNTIME_DIR to a private folder.`,
    );
  }
  return folder;
}
