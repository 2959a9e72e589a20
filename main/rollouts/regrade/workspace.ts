/** The final state of a box, kept so that a later verifier can grade it: the working folder, the agent's logs, the artifacts. */
import { posix } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import { harnessLogs } from "../../harnesses/index.ts";
import { insidePaths, type Sandbox } from "../../sandboxes/index.ts";
import type { Redactor } from "../../store/index.ts";
import { carriedArtifacts, mainService, type Task } from "../../tasks/index.ts";
import { headSchema, type PackedHead, packSource, tooMuchExitCode, unpackSource } from "./inside-programs.ts";

/** Of one box. A larger one is not kept. */
const limits = { bytes: 64 * 1024 ** 2, entries: 20_000 } as const;
const programMs = 2 * 60_000;
const packedFile = "/tmp/openforge-workspace";

/** Packed, with every declared secret blanked; a phrase where it cannot be. Nothing of the agent may run. */
export async function packWorkspace(sandbox: Sandbox, task: Task, redactor: Redactor, signal?: AbortSignal): Promise<Uint8Array | string> {
  if (sandbox.workdir === "/") return "its working folder is /, the whole sandbox; a workdir in task.toml makes it a folder";
  const roots = rootsOf(task, sandbox.workdir);
  const end = await sandbox.exec(
    {
      command: ownProgram(packSource, [String(limits.bytes), String(limits.entries), ...roots]),
      cwd: "/",
      timeoutMs: programMs,
      outputLimitBytes: 2 * limits.bytes,
    },
    signal,
  );
  const said = new TextDecoder().decode(end.stderr).trim().split("\n").at(-1) ?? "";
  if (end.exitCode === tooMuchExitCode) return `it holds ${said}`;
  if (end.exitCode !== 0 || end.droppedBytes > 0) return said === "" ? `its packer ended with exit code ${end.exitCode}` : said;
  return redacted(end.stdout, redactor);
}

/** Puts a kept state into a fresh box of the same task. */
export async function restoreWorkspace(sandbox: Sandbox, packed: Uint8Array, signal?: AbortSignal): Promise<void> {
  await sandbox.writeFile(packedFile, packed);
  const command = ownProgram(unpackSource, [packedFile]);
  const { exitCode, stderr } = await sandbox.exec({ command, cwd: "/", timeoutMs: programMs, outputLimitBytes: 65_536 }, signal);
  if (exitCode === 0) return;
  const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  throw new WorkbenchError("sandbox", `The kept workspace cannot be put back: ${said || `exit code ${exitCode}`}.`, "Run the rollout again.");
}

const ownProgram = (source: string, args: readonly string[]): readonly string[] => [
  ...["/usr/bin/env", "-u", "NODE_OPTIONS", "-u", "LD_PRELOAD", insidePaths.node],
  ...["-e", source, "--", ...args],
];

/** Each once, none below another. */
function rootsOf(task: Task, workdir: string): readonly string[] {
  const artifacts = carriedArtifacts(task).filter(({ service }) => service === mainService);
  const all = [...new Set([workdir, harnessLogs, ...artifacts.map(({ source }) => posix.resolve(workdir, source))])];
  return all.filter((path) => !all.some((other) => other !== path && path.startsWith(`${other}/`)));
}

/** A secret changes the length of its file, so that the files are looked at one by one. */
function redacted(packed: Uint8Array, redactor: Redactor): Uint8Array {
  const { head, contents } = readPacked(packed);
  const entries: PackedHead["entries"] = [];
  const clean: Uint8Array[] = [];
  for (const [index, entry] of head.entries.entries()) {
    if (entry.type !== "file") entries.push(entry);
    else {
      const { bytes } = redactor.bytes(contents[index] ?? new Uint8Array());
      entries.push({ ...entry, size: bytes.length });
      clean.push(bytes);
    }
  }
  return Buffer.concat([Buffer.from(`${redactor.text(JSON.stringify({ ...head, entries }))}\n`), ...clean]);
}

function readPacked(packed: Uint8Array): { readonly head: PackedHead; readonly contents: readonly Uint8Array[] } {
  const end = packed.indexOf(10);
  const head = headSchema.parse(JSON.parse(new TextDecoder().decode(packed.subarray(0, end))));
  let offset = end + 1;
  const contents = head.entries.map((entry) => {
    const size = entry.type === "file" ? entry.size : 0;
    offset += size;
    return packed.subarray(offset - size, offset);
  });
  return { head, contents };
}
