/** The frame every verb runs in: options in common, a connection, Ctrl-C as clean cancelling (exit 130), failures as sentences. */
import { Command } from "commander";
import type { ExitCode } from "../errors.ts";
import { dataFolder } from "../machine/index.ts";
import { type Connection, connect, type WorkbenchClient } from "./connect.ts";
import { asFailure, note, printFailure } from "./output.ts";

export interface VerbContext {
  readonly client: WorkbenchClient;
  readonly json: boolean;
  readonly data: string;
  /** The service is another process, which goes on when this one ends. */
  readonly remote: boolean;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface CommonOptions {
  readonly json?: boolean;
  readonly data?: string;
}

/** A verb's command with the options in common; `example` is shown under --help. */
export function verb(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option("--json", "one JSON document on stdout, messages on stderr")
    .option("--data <folder>", "the data folder (default: $OPENFORGE_HOME, else the platform's)")
    .addHelpText("after", `\nExample:\n  ${example}`);
}

/** A verb that only groups others. It has no options of its own: they would take those of the verbs below it. */
export function verbGroup(name: string, description: string): Command {
  return new Command(name).description(description);
}

/** Runs `work` with a connection and sets the exit code; never throws. */
export async function runVerb(options: CommonOptions, work: (context: VerbContext) => Promise<ExitCode>): Promise<void> {
  const json = options.json === true;
  await guarded(json, async (signal) => {
    const data = dataFolder(options.data);
    const connection: Connection = await connect(data);
    const { client, remote, lost } = connection;
    try {
      // Ctrl-C while the service started: nothing is begun.
      if (signal.aborted) return 130;
      return await Promise.race([work({ client, json, data, remote, signal }), lost]);
    } finally {
      await connection.close();
    }
  });
}

/** The same frame without a connection. */
export async function guarded(json: boolean, work: (signal: AbortSignal) => Promise<ExitCode>): Promise<void> {
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130);
    note("Cancelling… (press Ctrl-C again to leave at once)");
    stop.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  try {
    const code = await work(stop.signal);
    process.exitCode = stop.signal.aborted ? 130 : code;
  } catch (error) {
    if (stop.signal.aborted) process.exitCode = 130;
    else {
      const failure = asFailure(error);
      printFailure(failure, json);
      process.exitCode = failure.exitCode;
    }
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
}

/** Follows long work: progress lines to stderr, the result back. */
export async function follow<T>(stream: AsyncIterable<{ type: "progress"; line: string } | { type: "result"; result: T }>): Promise<T> {
  for await (const event of stream) {
    if (event.type === "result") return event.result;
    note(event.line);
  }
  throw new Error("the work ended without a result");
}
