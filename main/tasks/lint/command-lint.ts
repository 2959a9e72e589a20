/** Commands of scripts and Dockerfiles that make a task's result change from day to day. Rules as of `harbor lint`. */
import type { LogicalLine, ShellCommand } from "./shell-lines.ts";
import { shellCommands } from "./shell-lines.ts";

export interface CommandFinding {
  readonly line: number;
  readonly message: string;
}

/** Options of pip and uv that take a value. */
const valueOptions = new Set(
  (
    "-r --requirement -c --constraint -i --index-url --extra-index-url -t --target --prefix --root --cache-dir --python -p --log --src " +
    "--find-links -f --platform --config-settings -C --index --default-index --from"
  ).split(" "),
);

/** `separate`: the script runs in a verifier's own box, which is there to have everything built in. */
export function lintCommands({ line, text }: LogicalLine, separate: boolean): CommandFinding[] {
  const commands = shellCommands(text);
  return commands.flatMap((command, index) => {
    const { words } = command;
    const packages = installedPackages(words);
    const constrained = words.some((word) => /^(?:-c|--constraint)(?:=|$)/.test(word));
    const findings: string[] = [];
    if (!constrained && packages.some(isUnpinned)) {
      findings.push("A Python package is installed without an exact version; pin it (name==1.2.3) or install from a requirements file.");
    }
    if (separate && !words.includes("--offline") && !words.includes("--no-index") && packages.some(isTestRunner)) {
      findings.push("pytest is installed when the verifier runs; put it into the verifier's own image.");
    }
    const next = commands[index + 1];
    if (separate && isDownload(words, command.separator === "|" ? next : undefined)) {
      findings.push("The verifier downloads something when it runs; put it into the verifier's own image.");
    }
    return findings.map((message) => ({ line, message }));
  });
}

function installedPackages(words: readonly string[]): string[] {
  const text = words.slice(0, 4).join(" ");
  const prefix = /^(?:pip3? install|python3? -m pip install|uv (?:pip|tool) install|uvx)(?= |$)/.exec(text)?.[0];
  if (prefix === undefined) return [];
  const uvx = prefix === "uvx";
  const args = words.slice(prefix.split(" ").length);
  const packages: string[] = [];
  const pending = [...args];
  while (pending.length > 0) {
    const argument = pending.shift() ?? "";
    const [flag = "", ...joined] = argument.split("=");
    const value = argument.includes("=") ? joined.join("=") : null;
    const take = () => value ?? pending.shift() ?? "";
    if (flag === "--with" || flag === "-w") packages.push(take());
    else if (flag === "-e" || flag === "--editable") {
      const source = take();
      if (source.includes("://")) packages.push(source);
    } else if (valueOptions.has(flag)) {
      take();
    } else if (!argument.startsWith("-")) {
      if (uvx) break;
      packages.push(argument);
    }
  }
  const upgradesPip = packages.length === 1 && packages[0] === "pip" && (args.includes("-U") || args.includes("--upgrade"));
  return upgradesPip ? [] : packages;
}

function isUnpinned(source: string): boolean {
  if (source === "" || source.includes("$") || /^(?:\.|\/|file:)/.test(source)) return false;
  if (source.includes("://")) return !/@[0-9a-fA-F]{40}(?:#|$)|#sha256=[0-9a-fA-F]{64}$/.test(source);
  if (/\.(?:whl|tar\.gz|zip)$/.test(source)) return false;
  const requirement = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[^\]]*\])?\s*\(?((?:[<>=!~]=?=?[^;)]*)?)\)?\s*(?:;.*)?$/.exec(source);
  if (requirement === null) return false;
  return !(requirement[1] ?? "").split(",").some((part) => /^\s*===?\s*[^*\s]+\s*$/.test(part));
}

function isTestRunner(source: string): boolean {
  const name = source
    .split(/[<>=!~[]/)[0]
    ?.toLowerCase()
    .replaceAll("_", "-");
  return name === "pytest" || name === "pytest-json-ctrf";
}

function isDownload(words: readonly string[], pipedInto: ShellCommand | undefined): boolean {
  const [name, ...args] = words;
  if ((name !== "curl" && name !== "wget" && name !== "git") || !args.some(isExternal)) return false;
  if (name === "git") return args[0] === "clone";
  if (pipedInto?.words[0] === "sh" || pipedInto?.words[0] === "bash") return true;
  if (args.some((argument) => argument === "--spider" || argument === "-O-" || argument === "-qO-")) return false;
  for (const [index, argument] of args.entries()) {
    if (name === "curl" && argument === "-O") return true;
    const joined = /^--output(?:-document)?=(.*)$/.exec(argument)?.[1] ?? (name === "curl" ? /^-o(.+)$/.exec(argument)?.[1] : undefined);
    const separateValue = ["-o", "--output", "-O", "--output-document", ">"].includes(argument) ? (args[index + 1] ?? "") : undefined;
    const output = joined ?? separateValue;
    if (output !== undefined) return output !== "" && output !== "-" && output !== "/dev/null" && !output.includes("$");
  }
  return name === "wget" || args.some((argument) => argument.startsWith(">") && argument !== ">/dev/null");
}

function isExternal(argument: string): boolean {
  if (/^git@[^:]+\.[^:]+:/.test(argument)) return true;
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:?#]+)/i.exec(argument.replace(/^--url=/, ""))?.[1] ?? "";
  return host.includes(".") && !host.startsWith("127.") && !host.endsWith(".localhost");
}
