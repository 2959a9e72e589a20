/** Programs outside any sandbox: a recorded address for them, and a program run with the usual variables pointing at it. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { basename } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { type OutcomeCause, outcomeCauses } from "../../engine/outcome/index.ts";
import type { Attached } from "../attach/index.ts";
import { type ExitCode, WorkbenchError } from "../errors.ts";
import { absolutePolicy } from "../models/index.ts";
import { counted, note, print, printJson, table } from "./output.ts";
import { untilStopped } from "./service.ts";
import { type CommonOptions, runVerb, type VerbContext, verb } from "./verb.ts";

interface AttachOptions extends CommonOptions {
  readonly name: string;
  readonly policy: string;
}

export function attachCommand(): Command {
  return verb(
    "attach",
    "a base URL and key for a program outside any sandbox; its calls are recorded until Ctrl-C",
    "openforge attach --name my-agent",
  )
    .requiredOption("--name <name>", "what the recording is called")
    .option("--policy <policy>", "what answers, as in `openforge run`", "scripted")
    .action((options: AttachOptions) =>
      runVerb(options, async (context) => {
        const attached = await context.client.attach.start({ name: options.name, policy: policyOf(options) });
        if (context.json) printJson({ baseUrl: attached.baseUrl, key: attached.key, dialects: attached.dialects, experiment: attached.experiment });
        else print(addressTable(attached));
        if (!context.signal.aborted) await untilStopped(context.signal);
        await detach(context, attached);
        return 0;
      }),
    );
}

export function wrapCommand(): Command {
  return verb(
    "wrap",
    "run a program with the usual variables pointing at a recorded address",
    "openforge wrap --policy my-vllm -- claude -p 'fix the test'",
  )
    .option("--name <name>", "what the recording is called (default: the program)")
    .option("--policy <policy>", "what answers, as in `openforge run`", "scripted")
    .argument("<command...>", "the program and its arguments, after --")
    .action((command: readonly string[], options: Partial<AttachOptions>) =>
      runVerb(options, async (context) => {
        const [program = ""] = command;
        const attached = await context.client.attach.start({ name: options.name ?? basename(program), policy: policyOf(options) });
        try {
          // Ctrl-C while the address was being opened: the program is not begun.
          return context.signal.aborted ? 130 : await runWrapped(command, attached, context);
        } finally {
          await detach(context, attached);
        }
      }),
    );
}

function policyOf({ policy = "scripted" }: Partial<AttachOptions>): string {
  return absolutePolicy(policy, process.cwd());
}

/** A person's word on an attached session. */
export function gradeCommand(): Command {
  return verb("grade", "say how an attached session went", "openforge runs grade r-8c2b1f04 failed --cause tool-misuse --note 'wrong folder'")
    .argument("<rollout>")
    .argument("<status>", "succeeded or failed")
    .option("--cause <cause>", `what kind of failure: ${outcomeCauses.join(", ")}`, readCause)
    .option("--note <text>", "one sentence")
    .action((id: string, status: string, options: CommonOptions & { readonly cause?: OutcomeCause; readonly note?: string }) =>
      runVerb(options, async ({ client, json }) => {
        if (status !== "succeeded" && status !== "failed")
          throw new WorkbenchError(
            "usage",
            `A session succeeded or failed; it can't be \`${status}\`.`,
            "For example `openforge runs grade ID succeeded`.",
          );
        const verdict = { id, status, cause: options.cause ?? null, note: options.note ?? null } as const;
        await client.attach.grade(verdict);
        if (json) printJson(verdict);
        else print(`${id} is kept as ${status}.`);
        return 0;
      }),
    );
}

/** What the policy should have said: learnt from by an SFT stage that names the experiment. */
export function correctCommand(): Command {
  return verb("correct", "say what the policy should have answered in an attached session", "openforge runs correct r-8c2b1f04-0-3 'The tests pass.'")
    .argument("<call>", "id of the call, as `openforge calls ROLLOUT` shows it")
    .argument("<text>", "the right answer; empty takes a correction back")
    .action((call: string, text: string, options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        await client.attach.correct({ call, text });
        if (json) printJson({ call, text });
        else print(text === "" ? `The correction of ${call} is taken back.` : `${call} is corrected.`);
        return 0;
      }),
    );
}

function readCause(text: string): OutcomeCause {
  const cause = outcomeCauses.find((known) => known === text);
  if (cause === undefined) throw new InvalidArgumentError(`It is one of ${outcomeCauses.join(", ")}.`);
  return cause;
}

function addressTable({ baseUrl, key, dialects, experiment }: Attached): string {
  const rows = [
    ["base URL", baseUrl],
    ["key", key],
    ["Anthropic base URL", dialects.messages],
    ["Gemini base URL", dialects.gemini],
    ["recorded in", experiment],
  ];
  return table(["attached", ""], rows);
}

async function detach({ client, json }: VerbContext, { id }: Attached): Promise<void> {
  const counts = await client.attach.stop({ id });
  if (json) printJson(counts);
  else note(`Recorded: ${counted(counts.sessions, "session")}, ${counted(counts.calls, "call")}.`);
}

/**
 * Variables by which programs find their model, whatever they speak. Keys of the person's own that would go first are taken away, and a
 * proxy for the web is not asked for an address of this machine.
 */
export function wrappedEnvironment(
  inherited: NodeJS.ProcessEnv,
  { key, baseUrl, dialects }: Pick<Attached, "key" | "baseUrl" | "dialects">,
): NodeJS.ProcessEnv {
  const { ANTHROPIC_API_KEY: _anthropic, GOOGLE_API_KEY: _google, ...environment } = inherited;
  const direct = [environment.NO_PROXY ?? environment.no_proxy ?? "", "127.0.0.1"].filter((part) => part !== "").join(",");
  return {
    ...environment,
    NO_PROXY: direct,
    no_proxy: direct,
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_BASE: baseUrl,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: dialects.messages,
    ANTHROPIC_AUTH_TOKEN: key,
    GOOGLE_GEMINI_BASE_URL: dialects.gemini,
    GEMINI_API_KEY: key,
  };
}

/** Resolves with the program's own exit code. */
function runWrapped(
  [program = "", ...rest]: readonly string[],
  attached: Attached,
  { json, signal }: Pick<VerbContext, "json" | "signal">,
): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    // With --json standard output is our document's alone: the program's goes to standard error.
    const child = spawn(program, rest, { stdio: ["inherit", json ? 2 : "inherit", "inherit"], env: wrappedEnvironment(process.env, attached) });
    // Ctrl-C reaches the program by itself; it decides how to end.
    signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
    child.once("error", (error) =>
      reject(
        new WorkbenchError("usage", `${program} can't be started: ${error.message}.`, "Check the name of the program after `--`.", { cause: error }),
      ),
    );
    child.once("exit", (code, killed) => resolve((code ?? 128 + (killed === null ? 0 : constants.signals[killed])) as ExitCode));
  });
}
