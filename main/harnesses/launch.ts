/**
 * From a manifest and the values of one rollout to what is put into the sandbox and what is run there: pure, nothing is
 * written here. The instruction goes as an argument only while it fits: one string of a command line may have 128 KiB at most.
 */
import { WorkbenchError } from "../errors.ts";
import { insidePaths } from "../sandboxes/index.ts";
import type { McpServer } from "../tasks/index.ts";
import { sandboxArchitecture } from "./install.ts";
import type { HarnessManifest } from "./manifest.ts";
import { mcpRefusal } from "./refusal.ts";
import { fillIn, type ManifestValues } from "./values.ts";

/** Inside the sandbox. */
export const harnessHome = "/home/agent";
export const harnessLogs = "/logs/agent";
const instructionFile = `${harnessHome}/.openforge-task.md`;
const instructionPlaceholder = `\${instruction}`;
/** Linux takes 131,072 bytes a string with its closing zero. */
const argumentLimitBytes = 131_071;

export interface LaunchValues {
  /** `http://127.0.0.1:8790/r/r-1`: the model origin of this rollout as seen inside, without `/v1`. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  readonly workdir: string;
  readonly instruction: string;
  readonly mcpServers: readonly McpServer[];
  /** Environment of the task, below the harness's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** `x64` or `arm64`: of the sandbox. */
  readonly architecture: string;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
}

export interface Launch {
  /** Absolute path inside → text. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** null = /dev/null. */
  readonly stdin: Uint8Array | null;
  /** Absolute folder inside in which the harness looks for skills, a folder each; null = it has no skills. */
  readonly skillsFolder: string | null;
}

/** Fills a manifest for one rollout. A task that the harness cannot serve is refused with one sentence. */
export function prepareLaunch(manifest: HarnessManifest, given: LaunchValues): Launch {
  const refusal = mcpRefusal(manifest, given.mcpServers);
  if (refusal !== null) throw refusal;
  const asArgument = manifest.instruction === "argument" && Buffer.byteLength(given.instruction) <= argumentLimitBytes;
  const common = valuesOf(manifest, given, asArgument);
  const servers = serverTexts(manifest, given.mcpServers, common);
  const values: ManifestValues = { ...common, mcpEntries: servers.join(",\n") };
  const fill = (text: string, where: string): string => fillIn(text, values, `${where} of harness ${manifest.id}`);

  const files: Record<string, string> = {};
  for (const [path, text] of Object.entries(manifest.files)) files[fill(path, "files")] = fill(text, `the file ${path}`);
  if (manifest.mcp?.file !== undefined) {
    const path = fill(manifest.mcp.file, "mcp.file");
    files[path] = [files[path] ?? "", ...servers].join("");
  }
  if (manifest.instruction === "file") files[instructionFile] = given.instruction;

  const env: Record<string, string> = { ...given.environment, HOME: harnessHome };
  for (const [name, text] of Object.entries(manifest.env)) env[name] = fill(text, `env ${name}`);

  const byStdin = manifest.instruction === "stdin" || (manifest.instruction === "argument" && !asArgument);
  const dropped = !asArgument && manifest.stdinArgument === undefined;
  const command = manifest.command.filter((argument) => !dropped || argument !== instructionPlaceholder).map((argument) => fill(argument, "command"));
  const tooLong = command.find((argument) => Buffer.byteLength(argument) > argumentLimitBytes);
  if (tooLong !== undefined) {
    throw new WorkbenchError("harness", `An argument of ${manifest.id} is longer than a command line allows.`, "Let the manifest pass it by a file.");
  }
  const skillsFolder = manifest.skills === undefined ? null : fill(manifest.skills, "skills");
  return { files, env, command, stdin: byStdin ? Buffer.from(given.instruction) : null, skillsFolder };
}

/** How the program is started to serve many rollouts; a harness that cannot is a fault of the caller. */
export function residentCommand(manifest: HarnessManifest): readonly string[] {
  if (manifest.resident === undefined) throw new Error(`${manifest.id} is not resident`);
  const architecture = sandboxArchitecture();
  const values = { ...settingValues(manifest), ...placesInside, version: manifest.version, ...namesOf(architecture) };
  return manifest.resident.command.map((argument) => fillIn(argument, values, `resident.command of harness ${manifest.id}`));
}

const placesInside = { harness: insidePaths.harness, node: insidePaths.node } as const;

function settingValues(manifest: HarnessManifest): ManifestValues {
  return Object.fromEntries(Object.entries(manifest.settings).map(([name, value]) => [`settings.${name}`, value]));
}

function namesOf(architecture: string): ManifestValues {
  return { arch: architecture, machine: architecture === "arm64" ? "aarch64" : "x86_64" };
}

function valuesOf(manifest: HarnessManifest, given: LaunchValues, asArgument: boolean): ManifestValues {
  const stdinArgument = manifest.stdinArgument ?? "";
  return {
    ...settingValues(manifest),
    ...placesInside,
    home: harnessHome,
    logs: harnessLogs,
    workdir: given.workdir,
    origin: given.origin,
    baseUrl: `${given.origin}/v1`,
    key: given.key,
    model: given.model,
    instruction: asArgument ? given.instruction : stdinArgument,
    instructionFile,
    mcpServersJson: JSON.stringify(Object.fromEntries(given.mcpServers.map((server) => [server.name, serverJson(server)]))),
    mcpServerNames: given.mcpServers.map((server) => server.name),
    maxTokens: given.maxTokens ?? manifest.limits.maxTokens,
    contextWindow: given.contextWindow ?? manifest.limits.contextWindow,
    version: manifest.version,
    ...namesOf(given.architecture),
  };
}

/** The form that most harnesses read under `mcpServers`. */
function serverJson(server: McpServer): Record<string, unknown> {
  if (server.transport === "stdio") return { command: server.command ?? "", args: server.args };
  return { type: server.transport === "sse" ? "sse" : "http", url: server.url ?? "", headers: server.headers };
}

/** Each server as the manifest writes it for its transport. */
function serverTexts({ id, mcp }: HarnessManifest, servers: readonly McpServer[], values: ManifestValues): readonly string[] {
  return servers.flatMap((server) => {
    const template = mcp?.perServer?.[server.transport];
    if (template === undefined) return [];
    const ofServer: ManifestValues = {
      ...values,
      "server.name": server.name,
      "server.command": server.command ?? "",
      "server.args": server.args,
      "server.commandLine": [server.command ?? "", ...server.args],
      "server.url": server.url ?? "",
      "server.headers": server.headers,
    };
    return [fillIn(template, ofServer, `mcp.perServer of harness ${id}`)];
  });
}
