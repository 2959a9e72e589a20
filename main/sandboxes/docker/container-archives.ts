/** Files of a container through the engine's archives, for where the service cannot reach them itself. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import tar from "tar-fs";
import { sandboxError, sandboxLost } from "../sandbox-error.ts";
import type { FileOwner, TarEnds } from "../transfer.ts";
import { answered, lostOr, statusOf } from "./engine.ts";

export function archivesOf(container: Docker.Container, owner: FileOwner): TarEnds {
  return {
    owner,
    unpackInside: async (folder, archive) => {
      await makeFolder(container, folder, 0o755, owner);
      await unpack(container, folder, Readable.from(archive));
    },
    packInside: async (path) => {
      try {
        return { archive: Readable.from(await container.getArchive({ path })), done: Promise.resolve() };
      } catch (error) {
        if (await isOnlyThePathMissing(container, error)) return null;
        throw lostOr(error, (reason) => sandboxError("setup-failed", `${path} cannot be copied out: ${reason}.`, "Check the path."));
      }
    },
  };
}

/** Makes a folder and its missing parents; what exists stays as it is. */
export async function makeFolder(container: Docker.Container, path: string, mode: number, owner: FileOwner): Promise<void> {
  const missing: string[] = [];
  let ancestor = path;
  while (ancestor !== "/" && !(await exists(container, ancestor))) {
    missing.unshift(ancestor);
    ancestor = posix.dirname(ancestor);
  }
  if (missing.length === 0) return;
  const folders = tar.pack("/", {
    entries: [],
    finalize: false,
    finish: (pack) => {
      for (const folder of missing) {
        const name = posix.relative(ancestor, folder);
        pack.entry({ name, type: "directory", mode: folder === path ? mode : 0o755, mtime: new Date(), uid: owner.uid, gid: owner.gid });
      }
      pack.finalize();
    },
  });
  await unpack(container, ancestor, Readable.from(folders));
}

async function exists(container: Docker.Container, path: string): Promise<boolean> {
  try {
    await answered(container.infoArchive({ path }));
    return true;
  } catch (error) {
    if (await isOnlyThePathMissing(container, error)) return false;
    throw lostOr(error, (reason) => sandboxError("setup-failed", `Docker cannot look at ${path}: ${reason}.`, "Check Docker's log."));
  }
}

/** The engine answers 404 for a missing path and for a missing container alike. */
async function isOnlyThePathMissing(container: Docker.Container, error: unknown): Promise<boolean> {
  if (statusOf(error) !== 404) return false;
  try {
    await answered(container.inspect());
    return true;
  } catch (inspection) {
    throw lostOr(inspection, () => sandboxLost("its container cannot be looked at"));
  }
}

async function unpack(container: Docker.Container, folder: string, archive: Readable): Promise<void> {
  try {
    await container.putArchive(archive, { path: folder });
  } catch (error) {
    throw lostOr(error, (reason) =>
      sandboxError("setup-failed", `Files could not be copied to ${folder}: ${reason}.`, "Use a writable folder with room."),
    );
  }
}
