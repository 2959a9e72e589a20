/**
 * The tool on offer that a rule means by a bare name: tools of a namespace or an MCP server are offered as `namespace__name`, by some
 * harnesses as `mcp_server_name` or `server_name`. null when there is none.
 */
export function offeredName(name: string, tools: ReadonlySet<string>): string | null {
  if (tools.has(name)) return name;
  const endings = [(tool: string) => tool.endsWith(`__${name}`), (tool: string) => tool.endsWith(`_${name}`)];
  return endings.map((fits) => [...tools].find(fits)).find((tool) => tool !== undefined) ?? null;
}
