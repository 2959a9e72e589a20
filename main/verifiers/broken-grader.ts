/**
 * Signs that the check itself broke: a tool that is not there, a download that failed. They count only when the reward is short of
 * the maximum, and only for tools that graders bring, never for a program that the agent was to make.
 */

/** Programs that a test script takes for granted or fetches for itself. */
const graderTools =
  "apk apt apt-get awk bc bun cargo conda cmake cpan curl deno dnf docker g++ gcc gem git go gradle gunzip gzip java javac jq make mamba mvn " +
  "nc ninja node npm npx nproc openssl perl php pip pip3 pipx pnpm poetry psql pytest python python3 rg rsync ruby rustc sqlite3 ssh sudo tar " +
  "timeout tox unxz unzip uv uvx wget xz yarn yum zip";
const tools = new Set(graderTools.split(" "));

const networkSigns: readonly RegExp[] = [
  /^curl: \((?:5|6|7|22|28|35|56|60)\) .*$/m,
  /^wget: (?:unable to resolve|can't connect|bad address|server returned error).*$/m,
  /^(?:fatal: unable to access '.*|ssh: Could not resolve hostname .*)$/m,
  /^.*Temporary failure (?:in name resolution|resolving).*$/m,
  /^.*Could not resolve (?:host|proxy)\b.*$/m,
  /^E: (?:Unable to locate package|Failed to fetch|Unable to fetch some archives|Some index files failed to download|Package '.*' has no installation candidate).*$/m,
  /^ERROR: (?:Could not find a version that satisfies|No matching distribution found).*$/m,
  /^error: (?:Failed to (?:fetch|download|install)|Request failed after).*$/m,
  /^npm (?:ERR!|error) (?:code )?(?:E404|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|network).*$/m,
  /^tar: (?:Child returned status|This does not look like a tar archive).*$/m,
  /^gzip: stdin: (?:unexpected end of file|not in gzip format).*$/m,
  /^(?:.*: )?No module named ['"]?(?:pytest|pip|ensurepip|uv)['"]?\s*$/m,
  /^ModuleNotFoundError: No module named 'pytest.*'$/m,
];

export interface GraderEnd {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly stdout: string;
}

/** One phrase on what broke, or null. */
export function brokenGraderSign({ exitCode, stderr, stdout }: GraderEnd): string | null {
  const tool = missingTool(stderr) ?? missingTool(stdout);
  if (tool !== null) return `its tool ${tool} is not there`;
  for (const pattern of networkSigns) {
    const line = pattern.exec(stderr)?.[0] ?? pattern.exec(stdout)?.[0];
    if (line !== undefined) return `it could not fetch what it needs (${line.trim().slice(0, 200)})`;
  }
  if (exitCode === 126) return "its test script cannot be started";
  return null;
}

/** As shells say it from a file of /tests: `/tests/test.sh: line 3: uvx: command not found`, `/tests/test.sh: 3: uvx: not found`. */
function missingTool(output: string): string | null {
  for (const match of output.matchAll(/^\/tests\/\S+: (?:line )?\d+: (\S+): (?:command not found|not found|No such file or directory)$/gm)) {
    const name = match[1] ?? "";
    if (tools.has(name.slice(name.lastIndexOf("/") + 1)) || name.startsWith("/tests/")) return name;
  }
  const interpreter = /^(?:env|\/usr\/bin\/env): [‘'"]?([^’'":]+)[’'"]?: No such file or directory$/m.exec(output)?.[1];
  if (interpreter !== undefined && tools.has(interpreter.trim())) return interpreter.trim();
  return null;
}
