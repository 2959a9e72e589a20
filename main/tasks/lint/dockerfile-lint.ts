/** Warnings about a Dockerfile: unpinned packages, and grading files that the agent's image would give away. */
import { dockerInstructions } from "../package/dockerfile.ts";
import { type CommandFinding, lintCommands } from "./command-lint.ts";
import { shellWords } from "./shell-lines.ts";

/** `agentImage`: the image that the agent works in; `shell`: RUN lines are for a POSIX shell. */
export function lintDockerfile(source: string, agentImage: boolean, shell: boolean): CommandFinding[] {
  return dockerInstructions(source).flatMap(({ line, name, value }) => {
    const words = wordsOf(value);
    if (words === null) return [];
    if (name === "RUN" && shell) {
      const text = value.startsWith("[") ? words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ") : value;
      return lintCommands({ line, text }, false);
    }
    if ((name === "COPY" || name === "ADD") && agentImage && words.slice(0, -1).some(isHiddenFile)) {
      return [{ line, message: `${name} puts a grading or solution file into the agent's image, where the agent can read it.` }];
    }
    return [];
  });
}

const isHiddenFile = (path: string) => /(?:^|\/)(?:solution\/solve\.sh|tests\/(?:test\.sh|test_[^/]+\.py))$/.test(path);

function wordsOf(value: string): readonly string[] | null {
  if (!value.startsWith("[")) return shellWords(value);
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((word) => typeof word === "string") ? list : null;
  } catch {
    return null;
  }
}
