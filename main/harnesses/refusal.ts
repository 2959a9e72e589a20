/** What tasks may ask for that a harness cannot do: one sentence each, with the reason that its manifest gives. */
import { WorkbenchError } from "../errors.ts";
import type { McpServer } from "../tasks/index.ts";
import type { HarnessManifest } from "./manifest.ts";

/** Why the harness cannot use one of these MCP servers of a task, or null when it can use them all. */
export function mcpRefusal({ id, mcp, lacks }: HarnessManifest, servers: readonly McpServer[], task = "the task"): WorkbenchError | null {
  const server = servers.find(({ transport }) => mcp?.transports.includes(transport) !== true);
  if (server === undefined) return null;
  const reason = mcp === undefined && lacks.mcp !== undefined ? ` (${lacks.mcp})` : "";
  const cannot = mcp === undefined ? `cannot use MCP servers${reason}` : `cannot use MCP servers over ${server.transport}`;
  return new WorkbenchError("harness", `Harness ${id} ${cannot}, and ${task} brings one (${server.name}).`, "Run this task with another harness.", {
    exitCode: 2,
  });
}

/** Why the harness cannot use the skills of a task, or null when it can. */
export function skillsRefusal({ id, skills, lacks }: HarnessManifest, task = "the task"): WorkbenchError | null {
  if (skills !== undefined) return null;
  const reason = lacks.skills === undefined ? "" : ` (${lacks.skills})`;
  return new WorkbenchError("harness", `Harness ${id} cannot use skills${reason}, and ${task} brings some.`, "Run this task with another harness.", {
    exitCode: 2,
  });
}
