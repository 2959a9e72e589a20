/** Artifact entries: what is collected from a container, and where it goes below the rollout's artifact folder. */

import type { TaskArtifact, TaskPart } from "../contract.ts";

/** The service of a compose file that the agent works in; the only one where there is none. */
export const mainService = "main";

const pathParts = (path: string) => path.split("/").filter((part) => part !== "" && part !== ".");

/** A phrase that says what is wrong, or null. */
export function artifactSourceProblem(source: string): string | null {
  return pathParts(source).includes("..") ? "contains `..`" : null;
}

export function artifactDestinationProblem(destination: string): string | null {
  if (destination.includes("\\")) return "has backslashes; use forward slashes";
  if (destination.startsWith("/")) return "is absolute; it is relative to the artifact folder";
  const parts = pathParts(destination);
  if (parts.length === 0) return "names no file or folder";
  if (parts.includes("..")) return "contains `..`";
  return destination.replace(/\/+$/, "") === "manifest.json" ? "is reserved for the manifest of the artifact folder" : null;
}

export function isAbsoluteContainerPath(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[/\\]/.test(path);
}

type RawArtifact =
  | string
  | {
      readonly source: string;
      readonly destination?: string | null | undefined;
      readonly exclude?: readonly string[] | undefined;
      readonly service?: string | undefined;
    };

/** What is always collected from the box of the agent. */
const artifactFolder = "/logs/artifacts";

/** Every artifact of a part, the folder that is collected without being declared first. */
export function carriedArtifacts({ artifacts }: Pick<TaskPart, "artifacts">): readonly TaskArtifact[] {
  const declared = artifacts.some(({ source, service }) => service === mainService && source.replace(/\/+$/, "") === artifactFolder);
  return declared ? artifacts : [artifactOf(artifactFolder), ...artifacts];
}

export function artifactOf(entry: RawArtifact): TaskArtifact {
  if (typeof entry === "string") return { source: entry, destination: null, exclude: [], service: mainService };
  return { source: entry.source, destination: entry.destination ?? null, exclude: entry.exclude ?? [], service: entry.service ?? mainService };
}
