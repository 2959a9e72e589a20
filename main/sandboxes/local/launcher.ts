/**
 * The small process that starts programs for local sandboxes (`launcher-process.mjs`). As root it lives in a mount namespace of its own,
 * with a folder where what boxes are made of is bound: a box's user cannot walk into the service's folders, and needs not.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { Server, Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { killQuietly } from "../host-processes.ts";
import { sandboxLost, unavailable } from "../sandbox-error.ts";
import { type SystemTools, startRefusal, toolEnvironment } from "./system-tools.ts";

/** With nothing running for so long, the process ends; the next launch starts another. */
const idleMs = 5_000;
const complaintLimit = 2_000;

export interface LaunchRequest {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whole standard input; left out = empty. */
  readonly input?: Uint8Array;
  /** Standard input stays open for `write`. */
  readonly talks?: boolean;
  /** The program is the first process of a box (`box-shell.ts`): what comes by descriptor 3 is stream 3, and turns can be taken in it. */
  readonly box?: { readonly firstPair: number; readonly pairs: number };
  /** The program has Node's channel as descriptor 3 and sends one listening server; it has no standard output then. */
  readonly onServer?: (server: Server) => void;
  /** Bytes of each stream that are handed on; the rest is counted. */
  readonly outputLimitBytes: number;
  readonly onOutput: (stream: 1 | 2 | 3, bytes: Buffer) => void;
}

export interface LaunchEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly droppedBytes: number;
}

export interface TurnRequest extends Pick<LaunchRequest, "outputLimitBytes" | "onOutput"> {
  /** For the box's shell. */
  readonly text: string;
  /** First descriptor of the pair that its output comes by. */
  readonly out: number;
}

export interface Launched {
  /** Of its process and process group, as the machine or, in a turn, as the box numbers it; null until it has started. */
  readonly pid: number | null;
  readonly running: boolean;
  /** Rejects when it could not be started or the launcher itself is gone. Comes with the main process, not with its children. */
  readonly end: Promise<LaunchEnd>;
  /** SIGKILL to its process group; nothing in a turn. */
  kill(): void;
  /** Ends its standard input, which is a box's lifeline. */
  letGo(): void;
  /** To a program that is talked to. */
  write(bytes: Uint8Array): void;
}

export interface Launcher {
  readonly alive: boolean;
  launch(request: LaunchRequest): Launched;
  /** Lets the first process of a running box start something. */
  takeTurn(box: Launched, request: TurnRequest): Launched;
  /** Where a box's user finds a file or folder of the service's; the path itself where it needs no binding. */
  reach(path: string): Promise<string>;
}

type FromLauncher =
  | { readonly type: "ready" }
  | { readonly type: "started"; readonly id: number; readonly pid: number }
  | { readonly type: "output"; readonly id: number; readonly stream: 1 | 2 | 3; readonly bytes: Uint8Array }
  | { readonly type: "handle"; readonly id: number }
  | { readonly type: "end"; readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly dropped: number }
  | { readonly type: "failed"; readonly id: number; readonly message: string; readonly code?: string; readonly path?: string };

export async function startLauncher(tools: SystemTools): Promise<Launcher> {
  const beside = new URL("./launcher-process.mjs", import.meta.url);
  const program = fileURLToPath(existsSync(beside) ? beside : new URL("./launcher-process.js", import.meta.url));
  const stage = process.geteuid?.() === 0 ? stagingFolder([process.execPath, program]) : null;
  const node = [process.execPath, "--max-old-space-size=256", program];
  const prepare = 'mount -t tmpfs -o mode=0755,size=1m none "$1" && shift && exec "$@"';
  const [file = "", ...args] =
    stage === null ? node : [tools.unshare, "--mount", "--propagation", "slave", tools.sh, "-c", prepare, "sh", stage, ...node];
  // A session of its own: a key that interrupts the service in its terminal must not end the boxes before the service has.
  const child = spawn(file, args, {
    cwd: "/",
    env: toolEnvironment(),
    detached: true,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  await readiness(child);
  return new LauncherProcess(child, tools, stage);
}

/** An existing folder, empty where there is one, so that mounting over it hides nothing that is needed. */
function stagingFolder(needed: readonly string[]): string {
  const folders = ["/mnt", "/media", "/srv", "/opt", "/home"].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() && !needed.some((other) => other.startsWith(`${path}/`)),
  );
  const found = folders.find((path) => readdirSync(path).length === 0) ?? folders[0];
  if (found === undefined) throw unavailable("The local sandbox finds no folder to prepare its mounts in.", "Create an empty folder /mnt.");
  return found;
}

async function readiness(child: ChildProcess): Promise<void> {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-complaintLimit);
  });
  await new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("error", (error) => reject(startRefusal(error.message)));
    child.once("exit", () => reject(startRefusal(complaint.trim())));
  });
}

interface Pending {
  readonly request: Pick<LaunchRequest, "onOutput" | "onServer">;
  readonly launched: { pid: number | null; running: boolean };
  resolve(end: LaunchEnd): void;
  reject(error: unknown): void;
}

class LauncherProcess implements Launcher {
  readonly #child: ChildProcess;
  readonly #tools: SystemTools;
  readonly #stage: string | null;
  readonly #pending = new Map<number, Pending>();
  readonly #ids = new WeakMap<Launched, number>();
  readonly #bound = new Map<string, Promise<string>>();
  #nextId = 1;
  #places = 0;
  #alive = true;
  #lastWords = "";
  #idle: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, tools: SystemTools, stage: string | null) {
    this.#child = child;
    this.#tools = tools;
    this.#stage = stage;
    child.on("message", (messages: readonly FromLauncher[], handle) => {
      for (const message of messages) this.#receive(message, handle);
    });
    child.once("exit", () => this.#lose());
    child.unref();
    child.stderr?.removeAllListeners("data");
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-complaintLimit);
    });
    if (child.stderr instanceof Socket) child.stderr.unref();
    this.#rest();
  }

  get alive(): boolean {
    return this.#alive;
  }

  launch(request: LaunchRequest): Launched {
    const { command, env, input, talks, box, onServer, outputLimitBytes } = request;
    return this.#begin(request, {
      type: "start",
      command,
      env,
      input: input ?? null,
      talks: talks === true,
      channel: onServer !== undefined,
      limit: Math.max(0, outputLimitBytes),
      pairs: box === undefined ? null : { first: box.firstPair, count: box.pairs },
    });
  }

  takeTurn(box: Launched, request: TurnRequest): Launched {
    const { text, out, outputLimitBytes } = request;
    return this.#begin(request, { type: "turn", box: this.#ids.get(box) ?? 0, text, out, limit: Math.max(0, outputLimitBytes) });
  }

  #begin(request: Pending["request"], message: object): Launched {
    if (!this.#alive) throw sandboxLost("its launcher has ended");
    const id = this.#nextId;
    this.#nextId += 1;
    clearTimeout(this.#idle);
    this.#child.channel?.ref();
    const state: Pending["launched"] = { pid: null, running: true };
    const end = new Promise<LaunchEnd>((resolve, reject) => {
      this.#pending.set(id, { request, launched: state, resolve, reject });
    });
    end.catch(() => undefined);
    this.#send({ ...message, id });
    const launched: Launched = Object.assign(state, {
      end,
      kill: () => this.#send({ type: "kill", id }),
      letGo: () => this.#send({ type: "let-go", id }),
      write: (bytes: Uint8Array) => this.#send({ type: "write", id, bytes }),
    });
    this.#ids.set(launched, id);
    return launched;
  }

  reach(path: string): Promise<string> {
    if (this.#stage === null) return Promise.resolve(path);
    // A folder that was replaced is another one, though its path is the same.
    const { dev, ino } = statSync(path);
    const key = `${dev}:${ino}:${path}`;
    const found = this.#bound.get(key) ?? this.#bind(path, this.#newPlace());
    this.#bound.set(key, found);
    found.catch(() => this.#bound.delete(key));
    return found;
  }

  #newPlace(): string {
    this.#places += 1;
    return `${this.#stage ?? ""}/${this.#places}`;
  }

  async #bind(path: string, place: string): Promise<string> {
    if (path === this.#stage || path.startsWith(`${this.#stage}/`)) {
      throw unavailable(`The local sandbox prepares its mounts over ${this.#stage} and cannot use ${path}.`, "Keep it in another folder.");
    }
    let complaint = "";
    const script = 'if [ -d "$1" ]; then mkdir "$2"; else : > "$2"; fi && exec mount --bind "$1" "$2"';
    const { end } = this.launch({
      command: [this.#tools.sh, "-c", script, "sh", path, place],
      env: toolEnvironment(),
      outputLimitBytes: complaintLimit,
      onOutput: (_stream, bytes) => {
        complaint += bytes.toString();
      },
    });
    if ((await end).code !== 0) throw startRefusal(complaint.trim());
    return place;
  }

  #receive(message: FromLauncher, handle: unknown): void {
    if (message.type === "ready") return;
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    const { request, launched } = pending;
    if (message.type === "started") launched.pid = message.pid;
    else if (message.type === "output") {
      const { buffer, byteOffset, byteLength } = message.bytes;
      request.onOutput(message.stream, Buffer.from(buffer, byteOffset, byteLength));
    } else if (message.type === "handle") {
      if (handle instanceof Server) request.onServer?.(handle);
    } else {
      launched.running = false;
      this.#pending.delete(message.id);
      if (message.type === "end") pending.resolve({ code: message.code, signal: message.signal, droppedBytes: message.dropped });
      else pending.reject(startRefusal(message.code === "ENOENT" ? `${message.path ?? "a program"}: not found` : message.message));
      if (this.#pending.size === 0) this.#rest();
    }
  }

  #rest(): void {
    this.#child.channel?.unref();
    this.#idle = setTimeout(() => this.#close(), idleMs);
    this.#idle.unref();
  }

  #close(): void {
    if (!this.#alive) return;
    this.#alive = false;
    if (this.#child.connected) this.#child.disconnect();
  }

  #lose(): void {
    this.#alive = false;
    clearTimeout(this.#idle);
    if (this.#lastWords !== "") console.error(this.#lastWords);
    for (const { launched, reject } of this.#pending.values()) {
      launched.running = false;
      reject(sandboxLost("its launcher has ended"));
    }
    this.#pending.clear();
  }

  #send(message: object): void {
    if (!this.#child.connected) return;
    this.#child.send(message, (error) => {
      // A channel that breaks is a launcher that cannot be told anything: it and its boxes end, and all that wait for it are told.
      if (error !== null && this.#child.pid !== undefined) killQuietly(this.#child.pid);
    });
  }
}
