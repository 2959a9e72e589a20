/** The flat list of expected failures, named by the boundary crossed. Each says what happened and what to do. */

export type ErrorCode = "upstream" | "harness" | "sandbox" | "verifier" | "store" | "protocol" | "task" | "usage" | "unavailable" | "not-found";

/** Exit codes of the command line: 1 the answer is no · 2 wrong usage or bad input · 3 this machine lacks something. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

export class WorkbenchError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly exitCode: ExitCode;
  constructor(code: ErrorCode, message: string, remedy: string, options: { exitCode?: ExitCode; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "WorkbenchError";
    this.code = code;
    this.remedy = remedy;
    this.exitCode = options.exitCode ?? (code === "unavailable" ? 3 : code === "usage" || code === "task" || code === "not-found" ? 2 : 1);
  }
}
