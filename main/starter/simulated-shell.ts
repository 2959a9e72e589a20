/**
 * A shell for the teacher's transcripts only: the few commands that the teacher writes, with the words of bash and coreutils when they fail. Nothing that is
 * trained or measured runs here; `harness-formats.test.ts` holds it to real bash.
 */
import type { StarterTask } from "./contract.ts";

export interface CommandResult {
  /** What is printed, errors included, without the last line end. */
  readonly output: string;
  readonly exitCode: number;
}

const ok = (output = ""): CommandResult => ({ output, exitCode: 0 });
const failed = (output: string, exitCode = 1): CommandResult => ({ output, exitCode });
const missing = "No such file or directory";

export class SimulatedShell {
  /** Path → its line. */
  readonly #files: Map<string, string>;
  readonly #folders: Set<string>;

  constructor({ files, folders }: Pick<StarterTask, "files" | "folders">) {
    this.#files = new Map(Object.entries(files));
    this.#folders = new Set(folders);
  }

  /** Whether the task's files are as wanted. */
  satisfies(wanted: StarterTask["wanted"]): boolean {
    return Object.entries(wanted).every(([path, line]) => (this.#files.get(path) ?? null) === line);
  }

  /** Throws RangeError for a command that the teacher does not write. */
  run(command: string): CommandResult {
    const [program, ...operands] = command.split(" ");
    const [first = "", second = ""] = operands;
    switch (program) {
      case "echo":
        return this.#write(command);
      case "cat":
        return this.#files.has(first) ? ok(this.#files.get(first)) : failed(`cat: ${first}: ${missing}`);
      case "ls":
        return ok(this.#names().join("\n"));
      case "grep":
        return this.#search(second);
      case "mkdir":
        this.#folders.add(first);
        return ok();
      case "cp":
      case "mv":
        return this.#copy(program, first, second);
      default:
        throw new RangeError(`the teacher does not write ${command}`);
    }
  }

  #names(): readonly string[] {
    return [...[...this.#files.keys()].filter((path) => !path.includes("/")), ...this.#folders].sort();
  }

  #write(command: string): CommandResult {
    const [, text = "", path = ""] = /^echo (.+) > (\S+)$/.exec(command) ?? [];
    if (path === "") throw new RangeError(`the teacher does not write ${command}`);
    if (path.includes("/") && !this.#folders.has(path.slice(0, path.lastIndexOf("/")))) return failed(`bash: line 1: ${path}: ${missing}`);
    this.#files.set(
      path,
      text.replace(/\$\(\((\d+)([*+-])(\d+)\)\)/, (_whole, left, sign, right) => `${calculate(Number(left), sign, Number(right))}`),
    );
    return ok();
  }

  /** `grep -l WORD *` */
  #search(word: string): CommandResult {
    const holders = this.#names().filter((path) => this.#files.get(path)?.includes(word));
    return holders.length === 0 ? failed("") : ok(holders.join("\n"));
  }

  #copy(program: "cp" | "mv", from: string, to: string): CommandResult {
    const line = this.#files.get(from);
    if (line === undefined) return failed(`${program}: cannot stat '${from}': ${missing}`);
    this.#files.set(to, line);
    if (program === "mv") this.#files.delete(from);
    return ok();
  }
}

function calculate(left: number, sign: string, right: number): number {
  return sign === "*" ? left * right : sign === "+" ? left + right : left - right;
}
