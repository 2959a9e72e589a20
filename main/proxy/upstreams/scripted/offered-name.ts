/**
 * The tool on offer that a rule means by a bare name: tools of a namespace or an MCP server are offered as `namespace__name`, by one
 * harness as `mcp_server_name`. null when there is none.
 */
export function offeredName(name: string, tools: ReadonlySet<string>): string | null {
  if (tools.has(name)) return name;
  return [...tools].find((tool) => tool.endsWith(`__${name}`) || (tool.startsWith("mcp_") && tool.endsWith(`_${name}`))) ?? null;
}
