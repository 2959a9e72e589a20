/** Where the places of a sandbox lie when there is no mount namespace to put them there: below one folder of this machine. */
import { join } from "node:path";
import { unavailable } from "../sandbox-error.ts";
import { absoluteInside } from "../transfer-limits.ts";

/** Path inside → name in the folder. */
const places: Readonly<Record<string, string>> = {
  "/app": "app",
  "/logs": "logs",
  "/tests": "tests",
  "/tmp": "tmp",
  "/home/agent": "home",
};

export const placeFolders: readonly string[] = [...Object.values(places), "logs/agent", "logs/verifier", "logs/artifacts"];

/** The host path of an inside path, or null where it is in none of the places. */
export function placeOf(folder: string, inside: string): string | null {
  for (const [path, name] of Object.entries(places)) {
    if (inside === path || inside.startsWith(`${path}/`)) return join(folder, name, inside.slice(path.length));
  }
  return null;
}

/** The host path of an inside path; one outside the places does not exist here. */
export function requirePlace(folder: string, inside: string): string {
  const plain = absoluteInside(inside);
  const found = placeOf(folder, plain);
  if (found !== null) return found;
  throw unavailable(
    `Without isolation there is no ${plain}, only ${Object.keys(places).join(", ")}.`,
    "Use --sandbox docker, or a task that needs no other folder.",
  );
}
