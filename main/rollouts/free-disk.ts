import { statfs } from "node:fs/promises";
import { WorkbenchError } from "../errors.ts";

/** Refuses while there is still room to write down that it refused. */
export async function requireFreeDisk(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  const megabytes = (count: number): string => `${Math.floor(count / 1_000_000).toLocaleString("en")} MB`;
  throw new WorkbenchError(
    "sandbox",
    `The disk of ${folder} has ${megabytes(free)} free; a rollout starts with ${megabytes(bytes)} at least.`,
    "Make room, or move the data folder with --data.",
    { cause: "disk-full" },
  );
}
