import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import type { McpServer } from "../tasks/index.ts";
import { type LaunchValues, prepareLaunch } from "./launch.ts";
import type { HarnessManifest } from "./manifest.ts";
import { requireManifest } from "./read-manifest.ts";

const shipped = (id: string): HarnessManifest => {
  const path = join(import.meta.dirname, "../../resources/harnesses", id, "manifest.yaml");
  return requireManifest(readFileSync(path, "utf8"), path);
};
const server: McpServer = { name: "lab notes", transport: "stdio", command: "node", args: ["/app/serve r.mjs", 'a"b\\'], url: null, headers: {} };
const values: LaunchValues = {
  origin: "http://127.0.0.1:8790/r/r-1",
  key: "key-1",
  model: 'the "policy"',
  workdir: "/app",
  instruction: `Say $HOME and \${key}.`,
  mcpServers: [server],
  environment: { LANG: "C.UTF-8", HOME: "/root" },
  architecture: "x64",
};

test("react: a JSON file that holds the values, the task in a file", () => {
  const launch = prepareLaunch(shipped("react"), values);
  const config = JSON.parse(launch.files["/home/agent/react.json"] ?? "") as Record<string, unknown>;
  expect(config).toMatchObject({
    baseUrl: "http://127.0.0.1:8790/r/r-1/v1",
    key: "key-1",
    model: 'the "policy"',
    maxTokens: 8192,
    resultLimit: 16_000,
  });
  expect(config.mcpServers).toEqual({ "lab notes": { command: "node", args: server.args } });
  expect(launch.files["/home/agent/.openforge-task.md"]).toBe(values.instruction);
  expect(launch.command).toEqual([
    "/opt/openforge/bin/node",
    "/opt/harness/react.mjs",
    "--config",
    "/home/agent/react.json",
    "--task-file",
    "/home/agent/.openforge-task.md",
  ]);
  expect(launch.env).toEqual({ LANG: "C.UTF-8", HOME: "/home/agent" });
  expect(launch.stdin).toBeNull();
});

test("codex: a TOML file with the servers at its end, the task as an argument", () => {
  const launch = prepareLaunch(shipped("codex"), values);
  const config = parse(launch.files["/home/agent/.codex/config.toml"] ?? "") as Record<string, Record<string, unknown>>;
  expect(config.model).toBe('the "policy"');
  expect(config.model_providers?.workbench).toMatchObject({ base_url: "http://127.0.0.1:8790/r/r-1/v1", wire_api: "responses" });
  expect(config.mcp_servers).toEqual({ "lab notes": { command: "node", args: server.args } });
  expect(launch.command.at(-1)).toBe(`Say $HOME and \${key}.`);
  expect(launch.env.OPENFORGE_KEY).toBe("key-1");
});

test("an instruction longer than a command line allows goes by standard input", () => {
  const instruction = "ä".repeat(70_000);
  const launch = prepareLaunch(shipped("codex"), { ...values, instruction });
  expect(launch.command.slice(-2)).toEqual(["--", "-"]);
  expect(new TextDecoder().decode(launch.stdin ?? undefined)).toBe(instruction);
  const fits = prepareLaunch(shipped("codex"), { ...values, instruction: "a".repeat(131_071) });
  expect(fits.stdin).toBeNull();
});

test("a server that the harness cannot use, and a value that does not exist, are refused with a sentence", () => {
  const remote: McpServer = { ...server, transport: "sse", command: null, url: "http://x" };
  expect(() => prepareLaunch(shipped("codex"), { ...values, mcpServers: [remote] })).toThrow(
    "Harness codex cannot use MCP servers over sse, and the task brings one (lab notes).",
  );
  const odd = { ...shipped("react"), env: { A: `\${nothing}` } };
  expect(() => prepareLaunch(odd, values)).toThrow(`env A of harness react uses \${nothing}, which is not a value of a manifest.`);
});

test("each harness with MCP is given a task's servers in a file it can read", () => {
  const remote: McpServer = {
    name: "far",
    transport: "streamable-http",
    command: null,
    args: [],
    url: "http://box:1/mcp",
    headers: { "X-Key": 'a"b' },
  };
  const json = (id: string, path: string, key: string): unknown => {
    const { files } = prepareLaunch(shipped(id), { ...values, mcpServers: [server, remote] });
    return (JSON.parse(files[`/home/agent/${path}`] ?? "") as Record<string, unknown>)[key];
  };
  const [command, args] = ["node", ["/app/serve r.mjs", 'a"b\\']];
  expect(json("opencode", ".config/opencode/opencode.json", "mcp")).toMatchObject({
    "lab notes": { type: "local", command: [command, ...args] },
    far: { type: "remote", url: remote.url, headers: remote.headers },
  });
  expect(json("pi", ".pi/agent/mcp.json", "mcpServers")).toMatchObject({
    "lab notes": { command, args },
    far: { url: remote.url, headers: remote.headers },
  });
  expect(json("openclaw", "openclaw.json", "mcp")).toMatchObject({
    servers: { "lab notes": { command, args }, far: { transport: "streamable-http" } },
  });
  expect(json("claude-code", "mcp.json", "mcpServers")).toMatchObject({ "lab notes": { command, args }, far: { type: "http", url: remote.url } });
  expect(json("gemini-cli", ".gemini/settings.json", "mcpServers")).toMatchObject({
    "lab notes": { command, args },
    far: { type: "http", url: remote.url },
  });
  expect(json("qwen-code", ".qwen/settings.json", "mcpServers")).toMatchObject({ "lab notes": { command, args }, far: { httpUrl: remote.url } });

  const toml = (id: string, path: string): unknown =>
    parse(prepareLaunch(shipped(id), { ...values, mcpServers: [server, remote] }).files[`/home/agent/${path}`] ?? "");
  expect(toml("codex", ".codex/config.toml")).toMatchObject({
    mcp_servers: { "lab notes": { command, args }, far: { url: remote.url, http_headers: remote.headers } },
  });
  expect(toml("zeroclaw", ".zeroclaw/config.toml")).toMatchObject({
    agents: { main: { mcp_bundles: ["lab notes", "far"] } },
    mcp_bundles: { "lab notes": { servers: ["lab notes"] }, far: { servers: ["far"] } },
    mcp: {
      servers: [
        { name: "lab notes", transport: "stdio", command, args },
        { name: "far", transport: "http", url: remote.url, headers: remote.headers },
      ],
    },
  });
});

test("a harness without MCP says why, and names its folder of skills if it has one", () => {
  const lacking = { ...values, mcpServers: [server] };
  expect(() => prepareLaunch(shipped("mini-swe-agent"), lacking)).toThrow(
    "Harness mini-swe-agent cannot use MCP servers (it has one tool and no MCP client), and the task brings one (lab notes).",
  );
  expect(prepareLaunch(shipped("mini-swe-agent"), { ...values, mcpServers: [] }).skillsFolder).toBeNull();
  expect(prepareLaunch(shipped("codex"), values).skillsFolder).toBe("/home/agent/.agents/skills");
});
