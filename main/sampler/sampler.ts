/** The service's side of a sampler process: started, asked, told to end. A process that dies fails what it was asked, once and clearly. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { WorkbenchError } from "../errors.ts";
import type { FromSampler, Sample, SampleRequest, SamplerCounts, SamplerFailure, SamplerInfo, SamplerOptions, ToSampler } from "./protocol.ts";

export type SampleResult =
  | { readonly ok: true; readonly sample: Sample }
  | { readonly ok: false; readonly failure: SamplerFailure | { readonly kind: "lost"; readonly message: string } };

export interface Sampler {
  readonly info: SamplerInfo;
  /** The process is there. */
  readonly alive: boolean;
  /** Rejects only with the signal's reason. */
  sample(request: SampleRequest, signal: AbortSignal): Promise<SampleResult>;
  /** Makes weights known under a new name: the base with a PEFT adapter. Rejects with WorkbenchError. */
  publish(version: string, adapterFolder: string | null): Promise<void>;
  retire(version: string): Promise<void>;
  counts(): Promise<SamplerCounts>;
  close(): Promise<void>;
}

type Reply = Extract<FromSampler, { id: number }> | { readonly type: "lost"; readonly message: string };

/** Resolves when the model is loaded. Rejects with WorkbenchError when it cannot be. */
export async function openSampler(options: SamplerOptions): Promise<Sampler> {
  const child = fork(processEntry(), { serialization: "advanced", execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const info = await opening(child, options);
  return new SamplerClient(child, info);
}

/** In the sources beside this file; beside the bundle when built. */
function processEntry(): string {
  const source = fileURLToPath(new URL("./process-from-source.mjs", import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL("./sampler-process.js", import.meta.url));
}

function opening(child: ChildProcess, options: SamplerOptions): Promise<SamplerInfo> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => {
      child.kill();
      reject(
        new WorkbenchError(
          "unavailable",
          `The model in ${options.modelFolder} cannot be loaded: ${message}`,
          "See that the folder is whole and that memory is enough.",
        ),
      );
    };
    const onExit = (code: number | null): void => fail(`its process ended with ${code ?? "a signal"}.`);
    child.once("exit", onExit);
    child.once("message", (message: FromSampler) => {
      child.off("exit", onExit);
      if (message.type === "opened") resolve(message.info);
      else fail(message.type === "not-opened" ? message.message : "its process answered something else.");
    });
    child.send({ type: "open", options } satisfies ToSampler);
  });
}

/** How long a process may take to end by itself. */
const goodbyeMs = 3_000;

class SamplerClient implements Sampler {
  readonly info: SamplerInfo;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #nextId = 1;
  #alive = true;

  constructor(child: ChildProcess, info: SamplerInfo) {
    this.info = info;
    this.#child = child;
    child.on("message", (message: FromSampler) => {
      if ("id" in message) this.#settle(message.id, message);
    });
    child.on("exit", (code, signal) => {
      this.#alive = false;
      for (const id of [...this.#waiting.keys()])
        this.#settle(id, { type: "lost", message: `the sampler process ended (${signal ?? code ?? "unknown"})` });
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  async sample(request: SampleRequest, signal: AbortSignal): Promise<SampleResult> {
    signal.throwIfAborted();
    const id = this.#nextId;
    const cancel = (): void => this.#send({ type: "cancel", id });
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const reply = await this.#ask((own) => ({ type: "sample", id: own, request }));
      signal.throwIfAborted();
      if (reply.type === "sampled") return { ok: true, sample: reply.sample };
      if (reply.type === "failed") return { ok: false, failure: reply.failure };
      return { ok: false, failure: { kind: "lost", message: reply.type === "lost" ? reply.message : "the sampler answered something else" } };
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async publish(version: string, adapterFolder: string | null): Promise<void> {
    this.#checked(await this.#ask((id) => ({ type: "publish", id, version, adapterFolder })));
  }

  async retire(version: string): Promise<void> {
    this.#checked(await this.#ask((id) => ({ type: "retire", id, version })));
  }

  async counts(): Promise<SamplerCounts> {
    return this.#checked(await this.#ask((id) => ({ type: "count", id })));
  }

  async close(): Promise<void> {
    if (!this.#alive) return;
    const ended = new Promise<void>((resolve) => {
      this.#child.once("exit", () => resolve());
    });
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), goodbyeMs);
    await ended;
    clearTimeout(timer);
  }

  #ask(message: (id: number) => ToSampler): Promise<Reply> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      if (!this.#alive) {
        resolve({ type: "lost", message: "the sampler process has ended" });
        return;
      }
      this.#waiting.set(id, resolve);
      this.#send(message(id));
    });
  }

  #send(message: ToSampler): void {
    if (this.#alive && this.#child.connected) this.#child.send(message);
  }

  #settle(id: number, reply: Reply): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(reply);
  }

  #checked(reply: Reply): SamplerCounts {
    if (reply.type === "done") return reply.counts;
    const problem = reply.type === "failed" ? reply.failure.message : reply.type === "lost" ? reply.message : "it answered something else";
    throw new WorkbenchError("unavailable", `The sampler cannot do that: ${problem}.`, "Start the policy again.");
  }
}
