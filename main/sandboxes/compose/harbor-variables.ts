/** Variables that Harbor sets for every compose file. */
import { dirname } from "node:path";

/** Stands for the folders of the rollout's logs, which are in `main` anyway; some packages mount them by variables. */
export const logFolder = "/.openforge/logs";

interface FileFacts {
  readonly file: string;
  readonly limits?: { readonly cpus?: number; readonly memoryMb?: number };
}

export function harborVariable(name: string, { file, limits = {} }: FileFacts): string | undefined {
  const [, side, folder = ""] = /^(HOST|ENV)_(AGENT_LOGS|VERIFIER_LOGS|ARTIFACTS)_PATH$/.exec(name) ?? [];
  if (side !== undefined) return `${side === "HOST" ? logFolder : "/logs"}/${folder.replace("_LOGS", "").toLowerCase()}`;
  if (name === "CONTEXT_DIR") return dirname(file);
  if (name === "MAIN_IMAGE_NAME") return "openforge/main";
  if (name === "CPUS") return limits.cpus?.toString() ?? "";
  if (name === "MEMORY") return limits.memoryMb === undefined ? "" : `${limits.memoryMb}M`;
  return undefined;
}
