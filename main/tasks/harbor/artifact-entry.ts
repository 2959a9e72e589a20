/** Artifact entries: what is collected from a container, and where it goes below the rollout's artifact folder. */

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
