/** The service's side of an engine process: started, asked, told to end. A process that dies fails what it was asked, once and clearly. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ChildFailure, FromChild, ToChild } from "./messages.ts";

type ChildAnswer<Reply> = { readonly ok: true; readonly reply: Reply } | { readonly ok: false; readonly failure: ChildFailure };

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  readonly onToken?: (token: number) => void;
}

export interface Child<Request, Reply> {
  readonly alive: boolean;
  /** Never rejects for what went wrong in the process: kind `lost` when it is gone. Rejects with the signal's reason. */
  ask(request: Request, options?: AskOptions): Promise<ChildAnswer<Reply>>;
  close(): Promise<void>;
}

/** Where a process's code lies: beside its sources, or beside the bundle when built. */
interface ChildEntry {
  /** Loader beside the sources. */
  readonly source: URL;
  /** File beside the bundle. */
  readonly built: URL;
}

/** Resolves when the process has opened. Rejects with an Error whose message is a sentence's end. */
export async function openChild<Options, Info, Request, Reply>(
  entry: ChildEntry,
  options: Options,
): Promise<{ readonly info: Info; readonly child: Child<Request, Reply> }> {
  const source = fileURLToPath(entry.source);
  const forked = fork(existsSync(source) ? source : fileURLToPath(entry.built), {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const info = await opening<Options, Info>(forked, options);
  return { info, child: new ForkedChild<Request, Reply>(forked) };
}

function opening<Options, Info>(forked: ChildProcess, options: Options): Promise<Info> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => {
      forked.kill();
      reject(new Error(message));
    };
    const onExit = (code: number | null, signal: string | null): void => fail(`its process ended (${signal ?? code ?? "unknown"})`);
    forked.once("exit", onExit);
    forked.once("error", (error) => fail(error.message));
    forked.once("message", (message: FromChild<Info, unknown>) => {
      forked.off("exit", onExit);
      if (message.type === "opened") resolve(message.info);
      else fail(message.type === "not-opened" ? message.message : "its process answered something else");
    });
    forked.send({ type: "open", options } satisfies ToChild<Options, never>);
  });
}

/** How long a process may take to end by itself. */
const goodbyeMs = 3_000;

interface Pending<Reply> {
  readonly resolve: (answer: ChildAnswer<Reply>) => void;
  readonly onProgress: AskOptions["onProgress"];
  readonly onToken: AskOptions["onToken"];
}

class ForkedChild<Request, Reply> implements Child<Request, Reply> {
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending<Reply>>();
  #nextId = 1;
  #alive = true;

  constructor(forked: ChildProcess) {
    this.#process = forked;
    forked.on("message", (message: FromChild<never, Reply>) => this.#receive(message));
    forked.on("exit", (code, signal) => {
      this.#alive = false;
      for (const id of [...this.#pending.keys()]) this.#settle(id, lost(`its process ended (${signal ?? code ?? "unknown"})`));
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  async ask(request: Request, { signal, onProgress, onToken }: AskOptions = {}): Promise<ChildAnswer<Reply>> {
    signal?.throwIfAborted();
    if (!this.#alive) return lost("its process has ended");
    const id = this.#nextId;
    this.#nextId += 1;
    const cancel = (): void => this.#send({ type: "cancel", id });
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const answer = await new Promise<ChildAnswer<Reply>>((resolve) => {
        this.#pending.set(id, { resolve, onProgress, onToken });
        this.#send({ type: "ask", id, request });
      });
      signal?.throwIfAborted();
      return answer;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async close(): Promise<void> {
    if (!this.#alive) return;
    const ended = new Promise<void>((resolve) => {
      this.#process.once("exit", () => resolve());
    });
    this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), goodbyeMs);
    await ended;
    clearTimeout(timer);
  }

  #receive(message: FromChild<never, Reply>): void {
    if (message.type === "progress") this.#pending.get(message.id)?.onProgress?.(message.done, message.total);
    else if (message.type === "token") this.#pending.get(message.id)?.onToken?.(message.token);
    else if (message.type === "answered") this.#settle(message.id, { ok: true, reply: message.reply });
    else if (message.type === "failed") this.#settle(message.id, { ok: false, failure: message.failure });
  }

  #send(message: ToChild<never, Request>): void {
    if (this.#alive && this.#process.connected) this.#process.send(message);
  }

  #settle(id: number, answer: ChildAnswer<Reply>): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve(answer);
  }
}

function lost(message: string): { readonly ok: false; readonly failure: ChildFailure } {
  return { ok: false, failure: { kind: "lost", message } };
}
