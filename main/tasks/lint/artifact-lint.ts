/** Artifact entries whose places collide, or that reach into the logs of agent and verifier. */

import type { TaskArtifact } from "../contract.ts";
import { carriedArtifacts } from "../harbor/artifact-entry.ts";

const parts = (path: string) => path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
const output = (entry: TaskArtifact) => parts(entry.destination ?? entry.source);
const isWithin = (inner: readonly string[], outer: readonly string[]) => outer.every((part, index) => inner[index] === part);

/** Index of the later and text of the earlier entry of each pair that claims the same place. */
export function artifactCollisions(entries: readonly TaskArtifact[]): { readonly index: number; readonly earlier: string }[] {
  const all = carriedArtifacts({ artifacts: entries });
  const offset = all.length - entries.length;
  return all.flatMap((second, index) =>
    all.slice(0, index).flatMap((first) => {
      if (isCoveredBy(first, second)) return [];
      const [a, b] = [output(first), output(second)];
      return isWithin(a, b) || isWithin(b, a) ? [{ index: index - offset, earlier: first.source }] : [];
    }),
  );
}

/** The earlier entry brings the same files to the same place. */
function isCoveredBy(first: TaskArtifact, second: TaskArtifact): boolean {
  if (first.service !== second.service) return false;
  const [outer, inner] = [parts(first.source), parts(second.source)];
  if (first.source.startsWith("/") !== second.source.startsWith("/") || !isWithin(inner, outer)) return false;
  const expected = [...output(first), ...inner.slice(outer.length)].join("/");
  const same = output(second).join("/") === expected;
  if (inner.length === outer.length && same) return first.exclude.join("\0") === second.exclude.join("\0");
  return first.exclude.length === 0 && same;
}

/** Whether the entry would carry the logs of agent or verifier into a verifier's own box. */
export function overlapsLogs(entry: TaskArtifact): boolean {
  if (!entry.source.startsWith("/")) return false;
  const source = parts(entry.source);
  return [
    ["logs", "verifier"],
    ["logs", "agent"],
  ].some((logs) => isWithin(source, logs) || isWithin(logs, source));
}
