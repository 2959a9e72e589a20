/** Malformed packages: each gives exactly one error, with its file and line, in one plain sentence. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkTask } from "./check-task.ts";
import { type PackageEntry, type PackageFolders, packageFolders } from "./package-folder.test-data.ts";

let folders: PackageFolders;
beforeAll(async () => {
  folders = await packageFolders();
});
afterAll(() => folders.dispose());

const toml = (text: string) => ({ "task.toml": text });
const inEnvironment = (text: string) => toml(`[environment]\nnetwork_mode = "no-network"\n${text}\n`);
const stepped = (more: Readonly<Record<string, PackageEntry>>) => ({
  ...toml('[environment]\nnetwork_mode = "no-network"\n\n[[steps]]\nname = "one"\n\n[[steps]]\nname = "two"\n'),
  "steps/one/instruction.md": "One.\n",
  "steps/two/instruction.md": "Two.\n",
  ...more,
});

test.each<[name: string, changes: Readonly<Record<string, PackageEntry>>, place: string, sentence: string | RegExp]>([
  ["no task.toml", { "task.toml": null }, "task.toml:1", "The folder has no task.toml; every task package needs one."],
  ["no TOML", toml('[environment]\nworkdir = /app"\n'), "task.toml:2", /^This is not valid TOML: /],
  ["a key twice", toml("[environment]\ncpus = 1\ncpus = 2\n"), "task.toml:3", "This is not valid TOML: the key is set twice."],
  ["a value missing", toml("[environment]\ncpus =\n"), "task.toml:2", "This is not valid TOML: the key has no value."],
  ["an open string", toml('[task]\nname = "a/b\n'), "task.toml:2", /^This is not valid TOML: /],
  ["no UTF-8", { "task.toml": Uint8Array.from([0x5b, 0x61, 0x5d, 0x0a, 0xff]) }, "task.toml:2", "The file is not UTF-8 text."],
  ["a date that is none", toml("[metadata]\nday = 2023-02-30\n"), "task.toml:2", /^This is not valid TOML: /],
  ["a table that is a text", toml('environment = "docker"\n'), "task.toml:1", 'environment must be a table, not "docker".'],
  [
    "a name without its organisation",
    toml('[task]\nname = "count-words"\n[environment]\n'),
    "task.toml:2",
    /^task\.name must be org\/name .*, not "count-words"\.$/,
  ],
  ["no name", toml('[task]\nversion = "1"\n[environment]\n'), "task.toml:1", "task.name is missing."],
  [
    "an unknown network mode",
    toml('[environment]\nnetwork_mode = "offline"\n'),
    "task.toml:2",
    'environment.network_mode must be no-network, public or allowlist, not "offline".',
  ],
  [
    "hosts without an allowlist",
    inEnvironment('allowed_hosts = ["a.example"]'),
    "task.toml:3",
    'environment.allowed_hosts is valid only beside network_mode = "allowlist".',
  ],
  [
    "a URL as a host",
    toml('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = [\n  "a.example",\n  "https://b.example",\n]\n'),
    "task.toml:5",
    /^agent\.allowed_hosts\[1\] "https:\/\/b\.example" must be a host name/,
  ],
  [
    "a CIDR range with host bits",
    toml('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["10.0.0.1/8"]\n'),
    "task.toml:3",
    'environment.allowed_hosts[0] "10.0.0.1/8" is a CIDR range with host bits set.',
  ],
  ["a time that is a word", toml('[verifier]\ntimeout_sec = "ten"\n'), "task.toml:2", 'verifier.timeout_sec must be a number, not "ten".'],
  ["half a megabyte", inEnvironment("memory_mb = 512.5"), "task.toml:3", "environment.memory_mb must be a whole number, not 512.5."],
  ["processors without end", inEnvironment("cpus = inf"), "task.toml:3", "environment.cpus must be a finite number of processors, not Infinity."],
  [
    "a size in words",
    inEnvironment('memory = "2 gigs"'),
    "task.toml:3",
    'environment.memory must be a number with G, M or K, as in 2G, not "2 gigs".',
  ],
  ["two sizes", inEnvironment('memory_mb = 100\nmemory = "1G"'), "task.toml:4", 'environment.memory = "1G" (1024 MB) contradicts memory_mb = 100.'],
  [
    "a number as an environment value",
    inEnvironment("[environment.env]\nPORT = 8080"),
    "task.toml:4",
    "environment.env.PORT must be text, not 8080.",
  ],
  [
    "an MCP server without a command",
    inEnvironment('[[environment.mcp_servers]]\nname = "x"\ntransport = "stdio"'),
    "task.toml:3",
    "environment.mcp_servers[0] needs command, because its transport is stdio.",
  ],
  [
    "an MCP server without a url",
    inEnvironment('[[environment.mcp_servers]]\nname = "x"'),
    "task.toml:3",
    "environment.mcp_servers[0] needs url, because its transport is sse.",
  ],
  [
    "a written credential",
    inEnvironment('[[environment.mcp_servers]]\nname = "x"\nurl = "http://x"\nheaders = { Authorization = "Bearer abc" }'),
    "task.toml:6",
    /^environment\.mcp_servers\[0\]\.headers\.Authorization holds a credential/,
  ],
  [
    "a healthcheck without a command",
    inEnvironment("[environment.healthcheck]\nretries = 2"),
    "task.toml:3",
    "environment.healthcheck.command is missing.",
  ],
  [
    "a verifier that is shared and has its own box",
    toml('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1\n'),
    "task.toml:2",
    'verifier.environment_mode is "shared", which contradicts [verifier.environment]; leave one out.',
  ],
  ["an artifact that climbs", toml('artifacts = ["/app/../etc"]\n'), "task.toml:1", 'artifacts[0] is "/app/../etc", which contains `..`.'],
  [
    "an artifact over the manifest",
    toml('artifacts = [{ source = "/a", destination = "manifest.json" }]\n'),
    "task.toml:1",
    'artifacts[0].destination is "manifest.json", which is reserved for the manifest of the artifact folder.',
  ],
  [
    "a step that is a path",
    toml('[[steps]]\nname = "a/b"\n'),
    "task.toml:2",
    'steps[0].name is "a/b", which has a character that a folder name cannot have everywhere.',
  ],
  [
    "steps that differ by case only",
    toml('[[steps]]\nname = "Build"\n[[steps]]\nname = "build"\n'),
    "task.toml:4",
    'steps[1].name is "build", the same folder as the earlier step "Build".',
  ],
  ["no instruction", { "instruction.md": null }, "instruction.md:1", "The package has no instruction.md; write there what the agent is to do."],
  ["an instruction that is no text", { "instruction.md": Uint8Array.from([0xc3, 0x28]) }, "instruction.md:1", "instruction.md is not UTF-8 text."],
  [
    "no environment",
    { "environment/Dockerfile": null },
    "task.toml:3",
    "The package has no environment/ folder and names no environment.docker_image; add one of them.",
  ],
  ["no test", { "tests/test.sh": null }, "tests/test.sh:1", "The package has no tests/test.sh; write there how the work is checked."],
  [
    "no test for Windows",
    inEnvironment('os = "windows"'),
    "tests/test.bat:1",
    "The package has no tests/test.bat, which os = windows needs; write there how the work is checked.",
  ],
  ["a test that is left out", { "tests/.harborignore": "*.sh\n" }, "tests/test.sh:1", "tests/test.sh is needed but .harborignore leaves it out."],
  ["a broken ignore rule", { "tests/.harborignore": "*.tmp\nodd\\\n" }, "tests/.harborignore:2", 'The pattern "odd\\\\" ends with a lone backslash.'],
  [
    "a link out of the package",
    { "tests/data": { link: "/etc" } },
    "tests/data:1",
    "tests/data links out of the task package; copy what it points at.",
  ],
  ["a link in a circle", { "solution/again": { link: "." } }, "solution/again:1", "solution/again links to a folder that contains it."],
  [
    "what was a link out of the package",
    { "tests/data": "../.." },
    "tests/data:1",
    "tests/data was a link out of the task package and is now only its text; copy what it pointed at.",
  ],
  [
    "what was a link in a circle",
    { "solution/a/again": ".." },
    "solution/a/again:1",
    "solution/a/again was a link to a folder that contains it and is now only its text; copy what it pointed at.",
  ],
  ["a step without a folder", stepped({ "steps/two/instruction.md": null }), "task.toml:8", 'The step "two" has no folder steps/two.'],
  [
    "a step without an instruction",
    stepped({ "steps/two/instruction.md": null, "steps/two/notes.txt": "x" }),
    "steps/two/instruction.md:1",
    'The step "two" has no instruction.md; write there what the agent is to do.',
  ],
  [
    "a step without a test",
    stepped({ "tests/test.sh": null, "steps/one/tests/test.sh": "#!/bin/sh\n" }),
    "task.toml:8",
    'The step "two" has no test script; add steps/two/tests/test.sh or tests/test.sh.',
  ],
  [
    "initial files that are not there",
    inEnvironment('[metadata.openforge]\ninitial_state = { files = "environment/start" }'),
    "task.toml:4",
    "The folder of initial files environment/start does not exist.",
  ],
  [
    "initial files from elsewhere",
    inEnvironment('[metadata.openforge]\ninitial_state = { files = "../other" }'),
    "task.toml:4",
    "The initial files ../other lie outside the task package.",
  ],
])("%s", async (_name, changes, place, sentence) => {
  const { valid, task, digest, faults } = await checkTask(await folders.write(changes));
  expect({ valid, task, digest }).toEqual({ valid: false, task: null, digest: null });
  const errors = faults.filter((fault) => fault.severity === "error");
  expect(errors).toHaveLength(1);
  const [error] = errors;
  expect(`${error?.file}:${error?.line}`).toBe(place);
  if (typeof sentence === "string") expect(error?.message).toBe(sentence);
  else expect(error?.message).toMatch(sentence);
  expect(error?.message).toMatch(/^[^\n]+\.$/);
});
