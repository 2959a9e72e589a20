/**
 * One process of a resident harness, in a sandbox of its own without a workspace. It serves one rollout after the other; when it dies,
 * hangs or says what it must not, the rollout that it serves ends with that, and the slot is never used again.
 */
import { type FromResident, fromResidentSchema, type ToResident } from "../../harnesses/index.ts";
import type { ProxyDoor } from "../../proxy/index.ts";
import type { Sandbox, SandboxProgram } from "../../sandboxes/index.ts";
import { JsonLines } from "./json-lines.ts";

/** Generous: on a busy machine all slots start at once. */
const readyMs = 60_000;
/** From `stop` to `end`. */
const stopMs = 15_000;

export type ResidentExec = Extract<FromResident, { type: "exec" }>;
export type ResidentResult = Omit<Extract<ToResident, { type: "result" }>, "type" | "session" | "id">;

interface SlotTask {
  readonly start: Omit<Extract<ToResident, { type: "start" }>, "type">;
  /** Runs a command of the task. Rejects when the rollout cannot go on: the session is stopped then, and `run` rejects with it. */
  exec(request: ResidentExec): Promise<ResidentResult>;
  log(line: unknown): void;
}

type SlotEnd =
  | { readonly ok: true; readonly exitCode: number; readonly text: string | null; readonly error: string | null }
  /** The slot is lost; one sentence. */
  | { readonly ok: false; readonly why: string };

export interface Slot {
  readonly door: ProxyDoor;
  /** Base of every model address as seen by the program; null = the proxy's own. */
  readonly modelBaseHost: string | null;
  /** Can serve another rollout. */
  readonly usable: boolean;
  /** Serves one rollout; `stop` ends it early, with an `end` all the same. */
  run(task: SlotTask, stop: AbortSignal): Promise<SlotEnd>;
  /** Resolves when no session runs: after `stop` that is soon. */
  atRest(): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly task: SlotTask;
  settle(end: SlotEnd): void;
  fail(error: unknown): void;
}

/** Resolves when the program is ready; rejects when it does not get so far. Takes over sandbox and door. */
export async function openSlot(sandbox: Sandbox, door: ProxyDoor, program: SandboxProgram): Promise<Slot> {
  const lines = new JsonLines();
  let lost: string | null = null;
  let running: Running | null = null;
  let lastWords = "";
  let onReady: () => void = () => undefined;
  let closed: Promise<void> | null = null;
  let rest: Promise<unknown> = Promise.resolve();

  function say(message: ToResident): void {
    if (lost === null) program.input.write(`${JSON.stringify(message)}\n`);
  }

  function lose(why: string): void {
    if (lost !== null) return;
    end(lastWords === "" ? why : `${why} It said: ${lastWords}`);
    // The rollout need not wait for it; what cannot be closed now is removed at the next start.
    close().catch((error: unknown) => console.error(error));
  }

  function end(why: string): void {
    lost ??= why;
    running?.settle({ ok: false, why: lost });
    onReady();
  }

  function hear(message: FromResident): void {
    if (message.type === "ready") onReady();
    // Of a session that is over: it was told late.
    else if (running?.task.start.session !== message.session) return;
    else if (message.type === "log") running.task.log(message.line);
    else if (message.type === "end") running.settle({ ok: true, exitCode: message.exitCode, text: message.text, error: message.error });
    else answer(running, message);
  }

  function answer(current: Running, request: ResidentExec): void {
    const { session } = current.task.start;
    current.task.exec(request).then(
      (result) => {
        if (running === current) say({ type: "result", session, id: request.id, ...result });
      },
      (error: unknown) => current.fail(error),
    );
  }

  function close(): Promise<void> {
    end("The resident harness was ended.");
    closed ??= sandbox.destroy().finally(() => door.close());
    return closed;
  }

  program.input.on("error", () => lose("The resident harness does not read what it is told."));
  program.output.on("data", (chunk: Buffer) => {
    try {
      for (const value of lines.push(chunk)) hear(fromResidentSchema.parse(value));
    } catch {
      lose("The resident harness wrote something that is no message to its standard output.");
    }
  });
  program.errors.on("data", (chunk: Buffer) => {
    const said = (lastWords + chunk.toString()).trimEnd().split("\n").at(-1) ?? "";
    lastWords = said.slice(-300);
  });
  program.ended.then(() => lose("The resident harness ended."));

  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const timer = setTimeout(() => lose(`The resident harness was not ready within ${readyMs / 1000} s.`), readyMs);
  await ready;
  clearTimeout(timer);
  if (lost !== null) {
    await close();
    throw new Error(lost);
  }

  return {
    door,
    modelBaseHost: sandbox.modelBaseHost,
    get usable() {
      return lost === null && running === null;
    },
    async run(task, stop) {
      if (lost !== null) return { ok: false, why: lost };
      let hung: NodeJS.Timeout | undefined;
      const askToStop = (): void => {
        say({ type: "stop", session: task.start.session });
        hung ??= setTimeout(() => lose(`The resident harness did not end its session within ${stopMs / 1000} s; it was ended.`), stopMs);
      };
      const asked = new AbortController();
      const end = new Promise<SlotEnd>((resolve, reject) => {
        let failure: { readonly error: unknown } | null = null;
        running = {
          task,
          settle: (ended) => (failure === null ? resolve(ended) : reject(failure.error)),
          fail: (error) => {
            failure ??= { error };
            askToStop();
          },
        };
      });
      rest = end.catch(() => undefined);
      stop.addEventListener("abort", askToStop, { signal: asked.signal });
      say({ type: "start", ...task.start });
      if (stop.aborted) askToStop();
      try {
        return await end;
      } finally {
        running = null;
        clearTimeout(hung);
        asked.abort();
      }
    },
    async atRest() {
      await rest;
    },
    close,
  };
}
