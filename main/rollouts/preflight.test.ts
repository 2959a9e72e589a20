import { expect, test } from "vitest";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { Task } from "../tasks/index.ts";
import { refusalOf } from "./preflight.ts";

const plain = {
  name: "org/task",
  path: "/tasks/one",
  steps: [],
  agent: { timeoutMs: null, user: null, network: { mode: "no-network", allowedHosts: [], declared: true } },
  verifier: { separate: false, box: null, network: { mode: "public", allowedHosts: [], declared: false } },
  environment: { compose: false, composeProblem: null, os: "linux", mcpServers: [], gpus: null, tpu: false, skillsDir: null },
} as unknown as Task;
const react = { id: "react", resident: { command: ["node"] }, mcp: { transports: ["stdio"] }, lacks: {} } as unknown as HarnessManifest;
const simple = { id: "simple", lacks: {} } as HarnessManifest;
const environment = (change: Partial<Task["environment"]>): Task => ({ ...plain, environment: { ...plain.environment, ...change } });
const network = (mode: Task["agent"]["network"]["mode"], declared: boolean): Task => ({
  ...plain,
  agent: { ...plain.agent, network: { mode, declared, allowedHosts: [] } },
});
const boxes = (kind: "local" | "docker") => ({ kind, isolates: true });
const server = { name: "lab", transport: "stdio", command: "node", args: [], url: null, headers: {} } as const;

test("what can run is not refused", () => {
  expect(refusalOf(plain, boxes("local"), [react, simple])).toBeNull();
  expect(refusalOf(network("public", true), boxes("docker"), [react])).toBeNull();
  expect(refusalOf(network("allowlist", true), boxes("local"), [react])).toBeNull();
  expect(refusalOf(environment({ compose: true }), boxes("docker"), [react])).toBeNull();
  expect(refusalOf(environment({ mcpServers: [server] }), boxes("local"), [react])).toBeNull();
});

test.each([
  [environment({ compose: true }), "local", [react], 3, "The task org/task brings a compose file: its services need Docker."],
  [
    environment({ compose: true, composeProblem: "environment/docker-compose.yaml:3: services.db.pid: no." }),
    "docker",
    [react],
    2,
    "/tasks/one/environment/docker-compose.yaml:3: services.db.pid: no.",
  ],
  [environment({ os: "windows" }), "docker", [react], 2, "The task org/task needs Windows, which cannot be run."],
  [
    network("public", true),
    "local",
    [react],
    3,
    "The task org/task asks for the network mode public; a local sandbox reaches no more than a list of hosts.",
  ],
  [
    network("public", false),
    "local",
    [react],
    3,
    "The task org/task names no network mode, which means public; a local sandbox reaches no more than a list of hosts.",
  ],
  [environment({ mcpServers: [server] }), "local", [simple], 2, "Harness simple cannot use MCP servers, and the task org/task brings one (lab)."],
  [
    environment({ mcpServers: [{ ...server, transport: "sse", command: null, url: "http://mcp.example.org/sse" }] }),
    "docker",
    [react],
    2,
    "The task org/task has no network, and its MCP server lab is at http://mcp.example.org/sse, which is not in the sandbox.",
  ],
  [environment({ gpus: 2 }), "docker", [react], 3, "The task org/task asks for 2 GPUs, which sandboxes do not give."],
  [environment({ tpu: true }), "docker", [react], 3, "The task org/task asks for a TPU, which sandboxes do not give."],
  [environment({ skillsDir: "/skills" }), "local", [simple], 2, "Harness simple cannot use skills, and the task org/task brings some."],
  [
    { ...plain, verifier: { ...plain.verifier, network: { mode: "public", allowedHosts: [], declared: true } } },
    "local",
    [react],
    3,
    "The task org/task asks for the network mode public; a local sandbox reaches no more than a list of hosts.",
  ],
] as const)("refusal %#", (task, kind, harnesses, exitCode, message) => {
  expect(refusalOf(task, boxes(kind), harnesses)).toMatchObject({ exitCode, message });
});

test("without isolation only react runs, and only what was made for it", () => {
  const bare = { kind: "local", isolates: false } as const;
  const fit = { ...plain, runsUnisolated: true };
  expect(refusalOf(fit, bare, [react])).toBeNull();
  const listed = { ...fit, agent: network("allowlist", true).agent };
  expect(refusalOf(listed, bare, [react])?.message).toBe(
    "The task org/task asks for the network mode allowlist; a local sandbox has no network without isolation.",
  );
  expect(refusalOf(fit, bare, [react, simple])).toMatchObject({ exitCode: 3, message: expect.stringContaining("not simple") });
  expect(refusalOf(fit, bare, [{ ...react, resident: undefined } as HarnessManifest])).toMatchObject({ exitCode: 3 });
  expect(refusalOf({ ...fit, runsUnisolated: false }, bare, [react])).toMatchObject({ exitCode: 3, message: expect.stringContaining("org/task") });
  expect(refusalOf({ ...fit, verifier: { ...fit.verifier, separate: true } }, bare, [react])).toMatchObject({ exitCode: 3 });
});
