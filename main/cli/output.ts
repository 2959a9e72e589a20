/** How the command line speaks: data on stdout, everything else on stderr, one sentence and a remedy for what fails. */
import { ORPCError } from "@orpc/client";
import { z } from "zod";
import { type ExitCode, WorkbenchError } from "../errors.ts";

const carried = z.object({
  code: z.string(),
  remedy: z.string(),
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(130)]),
});

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly exitCode: ExitCode;
}

/** What a person is told of any error; a bug is named as one and keeps its message. */
export function asFailure(error: unknown): Failure {
  if (error instanceof WorkbenchError) return { code: error.code, message: error.message, remedy: error.remedy, exitCode: error.exitCode };
  if (error instanceof ORPCError) {
    const data = carried.safeParse(error.data);
    if (data.success) return { ...data.data, message: error.message };
    if (error.code === "BAD_REQUEST") {
      const issues = z
        .object({ issues: z.array(z.object({ message: z.string(), path: z.array(z.union([z.string(), z.number()])).optional() })) })
        .safeParse(error.data);
      const first = issues.success ? issues.data.issues[0] : undefined;
      const where = first?.path === undefined || first.path.length === 0 ? "" : ` at ${first.path.join(".")}`;
      return {
        code: "usage",
        message: `The input is not valid${where}: ${first?.message ?? error.message}.`,
        remedy: "See --help for an example.",
        exitCode: 2,
      };
    }
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal",
    message: `Unexpected: ${message}`,
    remedy: "Run the same command again; if it stays, report it with `openforge doctor --json`.",
    exitCode: 1,
  };
}

export function printFailure(failure: Failure, json: boolean): void {
  if (json) printJson({ error: { code: failure.code, message: failure.message, remedy: failure.remedy } });
  else note(`${failure.message}\n  ${failure.remedy}`);
}

/**
 * Readers may leave before the end (`| head`): what is still said goes nowhere, and the work is done as ever. Output that is lost in
 * another way (a full disk) ends in a sentence and exit code 1.
 */
export function outliveReaders(): void {
  let lost = false;
  process.once("exit", () => {
    if (lost) process.exitCode = 1;
  });
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE" || lost) return;
      lost = true;
      note(`The output could not be written: ${error.message}.\n  The work itself was done; \`openforge runs list\` shows what is recorded.`);
    });
  }
}

/** The one JSON document of a verb. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** `1 rollout`, `2 rollouts`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** As it has to be typed in a command that we suggest. */
export function shellWord(text: string): string {
  return /^[\w./@:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Progress and messages. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A table with a header; columns that hold only numbers, or `–` for none, are right-aligned. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)));
  const numeric = header.map((_title, column) => rows.length > 0 && rows.every((row) => /^[−\d.,± %–-]*$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return numeric[column] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [line(header), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}

/** A reward or a mean; `–` when there is none. */
export function number(value: number | null, digits = 2): string {
  return value === null ? "–" : value.toFixed(digits);
}
