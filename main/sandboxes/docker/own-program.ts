/**
 * What the image itself starts. Harbor leaves an image its ENTRYPOINT, as the container's first process, and gives it a command that does
 * nothing. Here the first process is ours, so the entrypoint runs beside it: with the same arguments, as the same account, in the same folder.
 * What it leaves running belongs to the environment as the services of a compose file do, and outlives the agent.
 */
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import { keepAlive, onlyIdles } from "../compose/main-service.ts";
import type { ComposeService } from "../compose/project.ts";
import { sandboxError } from "../sandbox-error.ts";
import { runInside, startExec } from "./docker-exec.ts";
import { answered, lostOr } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import type { ImageFacts } from "./image-facts.ts";
import { arrivedSource } from "./inside-programs.ts";

export interface OwnProgram {
  readonly words: readonly string[];
  readonly cwd: string;
  /** Command lines of which one shows that the entrypoint has done its part; null = the program is the service itself. */
  readonly arrivals: readonly (readonly string[])[] | null;
}

/** Null where there is nothing to run but what keeps a container alive. */
export function ownProgramOf(facts: ImageFacts, main: ComposeService | null): OwnProgram | null {
  const entrypoint = main?.entrypoint ?? facts.entrypoint;
  const command = main?.command ?? keepAlive;
  const idles = onlyIdles(command);
  if (onlyIdles(entrypoint) && (idles || entrypoint.length > 0)) return null;
  const [, , script = ""] = command;
  return {
    words: [...entrypoint, ...command],
    cwd: main?.workingDir ?? facts.workingDir ?? "/",
    // Shells replace themselves by the last command of a script.
    arrivals: idles ? [command, script.split(" ")] : null,
  };
}

/** An entrypoint that never runs its arguments is a service in the foreground, and ready when it pleases. */
const patienceMs = 10_000;
const lookMs = 100;
/** A program that cannot run ends at once, but not before the first look. */
const steadyMs = 300;
const keptBytes = 4_000;

export class RunningProgram {
  readonly #container: Docker.Container;
  readonly #program: OwnProgram;
  readonly #exec: Docker.Exec;
  readonly #stream: Duplex;
  #said = "";

  private constructor(container: Docker.Container, program: OwnProgram, exec: Docker.Exec, stream: Duplex) {
    this.#container = container;
    this.#program = program;
    this.#exec = exec;
    this.#stream = stream;
    const frames = new FrameReader((_name, payload) => {
      this.#said = (this.#said + payload.toString()).slice(-keptBytes);
    });
    stream.on("data", (packet: Buffer) => frames.push(packet));
    stream.on("error", () => undefined);
  }

  static async start(
    container: Docker.Container,
    program: OwnProgram,
    user: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<RunningProgram> {
    const { exec, stream } = await startExec(container, { command: program.words, cwd: program.cwd, user, env: environment }, "OPENFORGE_EXEC=own");
    return new RunningProgram(container, program, exec, stream);
  }

  /** Resolves when it has done its part, or runs on and says nothing of it. A SandboxError when it has ended. */
  async settled(user: string): Promise<void> {
    const { arrivals } = this.#program;
    const begin = Date.now();
    for (;;) {
      await this.requireAlive();
      const waited = Date.now() - begin;
      if (waited >= (arrivals === null ? steadyMs : patienceMs)) return;
      if (arrivals !== null && (await runInside(this.#container, user, arrivedSource, JSON.stringify(arrivals))) === "yes") return;
      await delay(lookMs);
    }
  }

  async requireAlive(): Promise<void> {
    const { Running, ExitCode } = await answered(this.#exec.inspect()).catch((error: unknown) => {
      throw lostOr(error, (reason) => sandboxError("sandbox-lost", `Docker cannot look at the image's program: ${reason}.`, "Check Docker's log."));
    });
    // One that is about to begin does not run yet, but has no exit code either.
    if (Running || ExitCode === null) return;
    // The engine may tell the end before the last words.
    await delay(lookMs);
    const said = this.#said.trim().split("\n").slice(-5).join(" | ").slice(-500);
    const { arrivals, words } = this.#program;
    const what = arrivals === null ? `The program that main runs (${words.join(" ").slice(0, 200)})` : "The entrypoint of the image";
    throw sandboxError(
      "setup-failed",
      `${what} ended with exit code ${ExitCode} before the agent began; it said${said === "" ? " nothing" : `: ${said}`}.`,
      arrivals === null
        ? "Let it run on, or end its start with `exec sleep infinity`."
        : 'Let it end with exec "$@": what it is given keeps the container alive, as in Harbor.',
    );
  }

  close(): void {
    this.#stream.destroy();
  }
}
