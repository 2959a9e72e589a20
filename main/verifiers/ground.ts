/**
 * The ground that a verifier stands on: the places it writes to and starts from made fresh, its reward files read. Done by the service
 * itself where it reaches the box's files, else by programs of ours inside. Nothing of the agent runs at either moment.
 */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { OutcomeCause } from "../../engine/outcome/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { DirectFiles, PlainFile, Sandbox } from "../sandboxes/index.ts";
import { emptySource, preparedSchema, prepareSource, readingSchema, readSource, rewardFileLimitBytes } from "./inside-programs.ts";
import { runOwnProgram } from "./own-program.ts";

type Answer<T> =
  | { readonly ok: true; readonly answer: T }
  | { readonly ok: false; readonly cause: Extract<OutcomeCause, "reward-forged" | "disk-full" | "verifier-broken">; readonly why: string };

export interface Ground {
  /** Empty folder of the grader's own. */
  readonly home: string;
  /** Search path without folders of the agent. */
  readonly path: readonly string[];
  /** System programs that were changed inside. */
  readonly replaced: readonly string[];
}

export interface GroundOptions {
  /** Else the image of the box holds the tests. */
  readonly testsFromHere: boolean;
  readonly workdir: string;
  /** Of the folders made. */
  readonly mode: number;
  readonly signal?: AbortSignal;
}

export async function prepareGround(sandbox: Sandbox, options: GroundOptions): Promise<Answer<Ground>> {
  const { testsFromHere, workdir, mode, signal } = options;
  if (sandbox.direct === null) {
    return runOwnProgram(sandbox, prepareSource, [testsFromHere ? "yes" : "no", workdir, mode.toString(8)], preparedSchema, signal);
  }
  return directly(sandbox.direct, (direct) => prepareDirectly(sandbox, direct, options));
}

async function prepareDirectly(sandbox: Sandbox, direct: DirectFiles, { testsFromHere, workdir, mode }: GroundOptions): Promise<Answer<Ground>> {
  const home = `/tmp/grader-${randomBytes(6).toString("hex")}`;
  for (const folder of ["/logs/verifier", ...(testsFromHere ? ["/tests"] : []), home, `${home}/tmp`]) {
    const refusal = await direct.freshFolder(folder, mode);
    if (refusal !== null) return { ok: false, cause: "reward-forged", why: refusal };
  }
  await sandbox.writeFile(`${home}/.gitconfig`, Buffer.from("[safe]\n\tdirectory = *\n"));
  const { path, replaced } = await direct.programs(workdir);
  return { ok: true, answer: { home, replaced, path: path.filter((folder) => folder !== workdir && !folder.startsWith(`${workdir}/`)) } };
}

/** What one step leaves that the agent of the next must not find, or that would be taken for its own. */
export const stepFolders: readonly string[] = ["/logs/agent", "/logs/artifacts", "/logs/verifier", "/tests"];

/** Removes for good what lies in these folders, so that the next agent in the box does not find it. A WorkbenchError says that it cannot be. */
export async function clearFolders(sandbox: Sandbox, folders: readonly string[], signal?: AbortSignal): Promise<void> {
  const { direct } = sandbox;
  const clearing =
    direct === null
      ? await runOwnProgram(sandbox, emptySource, folders, z.object({}), signal)
      : await directly(direct, async () => {
          for (const folder of folders) {
            const why = await direct.emptyFolder(folder);
            if (why !== null) return { ok: false, cause: "reward-forged", why };
          }
          return { ok: true, answer: {} };
        });
  if (clearing.ok) return;
  throw new WorkbenchError("sandbox", `What the step before left could not be cleared away: ${clearing.why}.`, "Run the rollout again.");
}

export interface Reading {
  readonly json: PlainFile;
  readonly text: PlainFile;
  /** What else the verifier left in its folder, reward files counted. */
  readonly bytes: number;
  readonly entries: number;
}

const measuredEntries = 20_000;

export async function readGround(sandbox: Sandbox, signal?: AbortSignal): Promise<Answer<Reading>> {
  if (sandbox.direct !== null) {
    return directly(sandbox.direct, async (direct) => {
      const file = (name: string): Promise<PlainFile> => direct.readPlain(`/logs/verifier/${name}`, rewardFileLimitBytes);
      const left = await direct.measure("/logs/verifier", measuredEntries);
      return { ok: true, answer: { json: await file("reward.json"), text: await file("reward.txt"), ...left } };
    });
  }
  const reading = await runOwnProgram(sandbox, readSource, [], readingSchema, signal);
  if (!reading.ok) return reading;
  const { json, text, bytes, entries } = reading.answer;
  return { ok: true, answer: { json: decoded(json), text: decoded(text), bytes, entries } };
}

function decoded(found: Exclude<PlainFile, { state: "file" }> | { readonly state: "file"; readonly base64: string }): PlainFile {
  return found.state === "file" ? { state: "file", bytes: Buffer.from(found.base64, "base64") } : found;
}

/** What an agent did to its box is no fault of the service: a system error becomes a reason. */
async function directly<T>(direct: DirectFiles, work: (direct: DirectFiles) => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await work(direct);
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    return { ok: false, cause: code === "ENOSPC" || code === "EDQUOT" ? "disk-full" : "verifier-broken", why: message };
  }
}
