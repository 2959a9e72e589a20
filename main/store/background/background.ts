/** The store's side of its worker: started at first use, restarted after it died, told to end when the store closes. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { WorkbenchError } from "../../errors.ts";
import type { StoreProblem } from "../contract.ts";
import type { FromWorker, PackedPart, Request, ToWorker } from "./messages.ts";

export interface Background {
  /** `adopt` gets each part of a compaction; when it throws, the compaction stops and the promise rejects. */
  ask(request: Request, adopt?: (part: PackedPart) => Promise<void>): Promise<readonly StoreProblem[]>;
  close(): void;
}

/** A worker in the middle of something long is not waited for; it holds nothing that the next start needs. */
const longestGoodbyeMs = 2000;

interface Pending {
  readonly resolve: (problems: readonly StoreProblem[]) => void;
  readonly reject: (error: unknown) => void;
  readonly adopt: (part: PackedPart) => Promise<void>;
}

export function createBackground(dataFolder: string, bodyFolder: string): Background {
  const pending = new Map<number, Pending>();
  /** Set to 1 by the worker when it holds no file any more. */
  const farewell = new Int32Array(new SharedArrayBuffer(4));
  let worker: Worker | null = null;
  let nextId = 1;
  let closed = false;

  function start(): Worker {
    const started = new Worker(workerEntry(), { workerData: { dataFolder, bodyFolder, farewell }, name: "store" });
    started.unref();
    started.on("message", receive);
    started.on("error", (error) => giveUp(started, error));
    started.on("exit", () => giveUp(started, failure("it ended")));
    return started;
  }

  function receive(message: FromWorker): void {
    const asked = pending.get(message.id);
    if (asked === undefined) return;
    if (message.type === "part") {
      asked.adopt(message.part).then(
        () => send({ type: "adopted", id: message.id, go: true }),
        (error: unknown) => {
          settle(message.id);
          asked.reject(error);
          send({ type: "adopted", id: message.id, go: false });
        },
      );
      return;
    }
    settle(message.id);
    if (message.type === "done") asked.resolve(message.problems);
    else asked.reject(failure(message.message));
  }

  /** The event loop is held only while something is asked. */
  function settle(id: number): void {
    pending.delete(id);
    if (pending.size === 0) worker?.unref();
  }

  function giveUp(ended: Worker, error: unknown): void {
    if (worker !== ended) return;
    worker = null;
    for (const asked of pending.values()) asked.reject(error);
    pending.clear();
  }

  function send(message: ToWorker): void {
    worker?.postMessage(message);
  }

  return {
    ask(request, adopt = () => Promise.resolve()) {
      return new Promise((resolve, reject) => {
        if (closed) {
          reject(failure("the store is closed"));
          return;
        }
        worker ??= start();
        worker.ref();
        const id = nextId;
        nextId += 1;
        pending.set(id, { resolve, reject, adopt });
        send({ type: "request", id, request });
      });
    },
    close() {
      closed = true;
      const last = worker;
      if (last === null) return;
      send({ type: "end" });
      Atomics.wait(farewell, 0, 0, longestGoodbyeMs);
      giveUp(last, failure("the store is closed"));
      last.unref();
    },
  };
}

function failure(reason: string): WorkbenchError {
  return new WorkbenchError("store", `The store's background work stopped: ${reason}.`, "Nothing recorded is lost; it is tried again later.");
}

/** In the sources beside this file; beside the bundle when built. */
function workerEntry(): URL {
  const source = new URL("./worker-from-source.mjs", import.meta.url);
  return existsSync(fileURLToPath(source)) ? source : new URL("./store-worker.js", import.meta.url);
}
