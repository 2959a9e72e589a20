/** Dockerfiles as instructions with their lines. */
import { logicalLines } from "../lint/shell-lines.ts";

export interface DockerInstruction {
  readonly line: number;
  /** Upper case. */
  readonly name: string;
  /** Without leading `--options`. */
  readonly value: string;
}

export function dockerInstructions(source: string): DockerInstruction[] {
  return logicalLines(source).flatMap(({ line, text }) => {
    const match = /^\s*(\S+)\s+([\s\S]+)$/.exec(text);
    if (match === null) return [];
    return [{ line, name: (match[1] ?? "").toUpperCase(), value: (match[2] ?? "").replace(/^(?:--\S+\s+)+/, "").trim() }];
  });
}

/** Whether the last stage says itself that a program is started; what its base says is not known here. */
export function hasEntrypoint(source: string): boolean {
  let last = "";
  for (const { name, value } of dockerInstructions(source)) {
    if (name === "FROM") last = "";
    if (name === "ENTRYPOINT") last = value.replaceAll(/\s/g, "");
  }
  return last !== "" && last !== "[]" && last !== '[""]';
}

/** The working folder of the last stage, when it is written as a plain absolute path; null otherwise. */
export function lastWorkdir(source: string): string | null {
  let workdir: string | null = null;
  for (const { name, value } of dockerInstructions(source)) {
    if (name === "FROM") workdir = null;
    if (name !== "WORKDIR") continue;
    const path = value.replace(/^(["'])(.*)\1$/, "$2");
    if (path.includes("$")) workdir = null;
    else workdir = path.startsWith("/") ? path : workdir === null ? null : `${workdir.replace(/\/$/, "")}/${path}`;
  }
  return workdir === null ? null : workdir.replace(/(?<=.)\/+$/, "");
}
