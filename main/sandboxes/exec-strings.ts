import { WorkbenchError } from "../errors.ts";
import type { ExecRequest } from "./contract.ts";

/** Linux's MAX_ARG_STRLEN: one argument or `NAME=value`, its terminating zero included. */
const longestString = 131_072;
/** ARG_MAX is 2 MiB by default; the rest is left to the launcher's own words and the pointers. */
const longestTotal = 1_900_000;

/** Refuses what the kernel would refuse with E2BIG or cut short, naming the string at fault. */
export function checkExecStrings(request: Pick<ExecRequest, "command" | "env">): void {
  const [program] = request.command;
  if (program === undefined || program === "") throw refused("The command is empty.", "Give at least the name of a program.");
  if (program.includes("=")) throw refused(`The program's name "${program}" holds an equals sign.`, "Start it through sh -c.");
  const env = Object.entries(request.env ?? {});
  const wrongName = env.find(([name]) => !/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name));
  if (wrongName) throw refused(`"${wrongName[0]}" is no name for an environment variable.`, "Use letters, digits and underscores.");

  let total = 0;
  const strings = [
    ...request.command.map((text, index): [string, string] => [`argument ${index}`, text]),
    ...env.map(([name, value]): [string, string] => [`environment variable ${name}`, `${name}=${value}`]),
  ];
  for (const [what, text] of strings) {
    const bytes = Buffer.byteLength(text) + 1;
    total += bytes;
    if (bytes > longestString) {
      throw refused(
        `The ${what} of ${program} is ${bytes} bytes long; the system takes ${longestString} a string.`,
        "Send long text by standard input or in a file.",
      );
    }
    if (text.includes("\0")) throw refused(`The ${what} of ${program} holds a zero byte.`, "Send binary data by standard input or in a file.");
  }
  if (total > longestTotal) {
    throw refused(`The command line of ${program} is ${total} bytes long in all.`, "Send long text by standard input or in a file.");
  }
}

function refused(message: string, remedy: string): WorkbenchError {
  return new WorkbenchError("sandbox", message, remedy);
}
