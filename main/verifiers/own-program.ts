/** Runs one of the workbench's own programs in the box around the verifier. */
import type { z } from "zod";
import type { OutcomeCause } from "../../engine/outcome/index.ts";
import { insidePaths, type Sandbox } from "../sandboxes/index.ts";

const limitMs = 60_000;
/** By this exit code a program says that a place cannot be made what it must be. */
const refusedExitCode = 3;

type OwnAnswer<T> =
  | { readonly ok: true; readonly answer: T }
  | { readonly ok: false; readonly cause: Extract<OutcomeCause, "reward-forged" | "disk-full" | "verifier-broken">; readonly why: string };

/** Its answer, or a phrase on why there is none: what an agent did to its box is no fault of the service. */
export async function runOwnProgram<T>(
  sandbox: Sandbox,
  source: string,
  args: readonly string[],
  schema: z.ZodType<T>,
  signal?: AbortSignal,
): Promise<OwnAnswer<T>> {
  const end = await sandbox.exec(
    {
      command: ["/usr/bin/env", "-u", "NODE_OPTIONS", "-u", "LD_PRELOAD", insidePaths.node, "-e", source, "--", ...args],
      cwd: "/",
      timeoutMs: limitMs,
      outputLimitBytes: 1_000_000,
    },
    signal,
  );
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  const answer = end.exitCode === 0 ? schema.safeParse(parseJson(decode(end.stdout))) : null;
  if (answer?.success) return { ok: true, answer: answer.data };
  const complaint = decode(end.stderr).split("\n").at(-1)?.slice(0, 300) ?? "";
  if (end.timedOut) return { ok: false, cause: "verifier-broken", why: `it took more than ${limitMs / 1000} seconds` };
  const cause = end.exitCode === refusedExitCode ? "reward-forged" : /ENOSPC|EDQUOT/.test(complaint) ? "disk-full" : "verifier-broken";
  return { ok: false, cause, why: complaint === "" ? `a program of ours ended with exit code ${end.exitCode}` : complaint };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
