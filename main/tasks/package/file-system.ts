/** Questions to the file system, answered with null or false where something is not there. */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

/** Order of code points, as Python sorts; JavaScript's default order is that of UTF-16 units. */
export function compareCodePoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left, "utf8"), Buffer.from(right, "utf8"));
}

/** True for a link only when what it points at exists. */
export async function exists(path: string): Promise<boolean> {
  return (await statOrNull(path)) !== null;
}

export async function isFolder(path: string): Promise<boolean> {
  return (await statOrNull(path))?.isDirectory() ?? false;
}

export async function isFile(path: string): Promise<boolean> {
  return (await statOrNull(path))?.isFile() ?? false;
}

export const statOrNull = (path: string) => nullWhereMissing(stat(path));
export const lstatOrNull = (path: string) => nullWhereMissing(lstat(path));

async function nullWhereMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown) =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ELOOP");

/** Where a path really is, links to nowhere followed too; a part that does not exist stays as written. */
export async function realPath(path: string, linksLeft = 40): Promise<string> {
  const real = await nullWhereMissing(realpath(path));
  const parent = resolve(path, "..");
  if (real !== null || parent === path) return real ?? path;
  const place = join(await realPath(parent, linksLeft), basename(path));
  const isLink = linksLeft > 0 && (await lstatOrNull(place))?.isSymbolicLink();
  return isLink ? realPath(resolve(place, "..", await readlink(place)), linksLeft - 1) : place;
}
