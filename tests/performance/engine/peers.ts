/** Peers of the engine's benchmarks, each a process of its own, so that peaks of memory are apart: the engine, and PyTorch on the same model. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { cacheFolder } from "../../../main/machine/index.ts";
import { bundle } from "../measure/bundle.ts";
import type { BlockResult, Job } from "./protocol.ts";

const run = promisify(execFile);
const pytorchVersion = "2.9.1";

/** `Omit` that keeps the members of a union apart. */
type Without<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
export type Work = Without<Job, "threads" | "compiled">;

/**
 * Threads of each peer. On a machine that does other work at once, threads that wait for each other measure that work: set this to 1 there and
 * compare processor time.
 */
const threads = Number(process.env.OPENFORGE_BENCH_THREADS ?? availableParallelism());

/** The engine, PyTorch as it is written, and through torch.compile. */
const kinds = ["engine", "eager", "compiled"] as const;
export type PeerKind = (typeof kinds)[number];

export interface Measured {
  /** Tokens a second of each block. */
  readonly speeds: readonly number[];
  /** Tokens a second of processor time, of each block: what a machine that is busy otherwise disturbs less. */
  readonly thrifts: readonly number[];
  /** Most memory that the process ever held, mapped files included. */
  readonly peakBytes: number;
}

/**
 * Measures all peers in turns, after two blocks that do not count. Without PyTorch the engine alone. Throws when the peers do not compute the
 * same: a figure beside another computation would say nothing.
 */
export async function measureInTurns(work: Work, repetitions: number, note: (line: string) => void): Promise<ReadonlyMap<PeerKind, Measured>> {
  const python = await pythonWithTorch(note);
  const engine = join(await bundle("engine", { engine: join(import.meta.dirname, "engine-process.ts") }), "engine.js");
  const peers: { readonly kind: PeerKind; readonly peer: Peer; readonly speeds: number[]; readonly thrifts: number[] }[] = [];
  try {
    for (const kind of kinds) {
      if (kind !== "engine" && python === null) continue;
      const job: Job = { ...work, threads, compiled: kind === "compiled" };
      peers.push({
        kind,
        peer: await Peer.start(kind === "engine" ? [process.execPath, engine] : [python ?? "", pytorchScript], job),
        speeds: [],
        thrifts: [],
      });
    }
    const checks = new Map<PeerKind, number>();
    for (const { kind, peer } of peers) {
      checks.set(kind, (await peer.block()).check);
      await peer.block();
    }
    agree(checks);
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      for (const { peer, speeds, thrifts } of peers) {
        const { units, seconds, processorSeconds } = await peer.block();
        speeds.push(units / seconds);
        thrifts.push(units / processorSeconds);
        // Threads of the one spin a moment before they sleep.
        await new Promise((done) => setTimeout(done, 40));
      }
    }
    const measured = new Map<PeerKind, Measured>();
    for (const { kind, peer, speeds, thrifts } of peers) measured.set(kind, { speeds, thrifts, peakBytes: await peer.end() });
    return measured;
  } finally {
    for (const { peer } of peers) peer.kill();
  }
}

function agree(checks: ReadonlyMap<PeerKind, number>): void {
  const ours = checks.get("engine") ?? Number.NaN;
  for (const [kind, check] of checks) {
    if (!(Math.abs(check - ours) <= 1e-3 * Math.max(1, Math.abs(ours))))
      throw new Error(`the engine computes ${ours} and PyTorch (${kind}) ${check}`);
  }
}

const pytorchScript = join(import.meta.dirname, "pytorch_peer.py");

class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#child = child;
    this.#lines = lines;
  }

  static async start(command: readonly string[], job: Job): Promise<Peer> {
    const [program = "", ...words] = command;
    const child = spawn(program, [...words, JSON.stringify(job)], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const peer = new Peer(child, lines);
    await peer.#answer();
    return peer;
  }

  async block(): Promise<BlockResult> {
    this.#child.stdin?.write("go\n");
    return (await this.#answer()) as BlockResult;
  }

  /** Resolves with the peak of its memory. */
  async end(): Promise<number> {
    this.#child.stdin?.write("end\n");
    return ((await this.#answer()) as { readonly peak: number }).peak;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #answer(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`${this.#child.spawnargs.slice(0, 4).join(" ")} ended early`);
    return JSON.parse(value);
  }
}

let torch: Promise<string | null> | null = null;

/** The interpreter that has PyTorch; null with a note when it can't be had. Installed once, several GB, and never on CI. */
function pythonWithTorch(note: (line: string) => void): Promise<string | null> {
  torch ??= findOrInstall(note);
  return torch;
}

async function findOrInstall(note: (line: string) => void): Promise<string | null> {
  const folder = join(cacheFolder(), `pytorch-${pytorchVersion}`);
  const python = join(folder, "bin", "python");
  const works = () => run(python, ["-c", "import torch, numpy"], { timeout: 120_000 });
  if (existsSync(python)) {
    const problem = await works().then(
      () => null,
      (error: unknown) => error,
    );
    if (problem === null) return python;
  }
  if (process.env.CI !== undefined) {
    note(`PyTorch ${pytorchVersion} is not installed in ${folder}; only the engine is measured`);
    return null;
  }
  note(`installing PyTorch ${pytorchVersion} from PyPI into ${folder}, several GB`);
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    await run("python3", ["-m", "venv", folder], { timeout: 120_000 });
    await run(join(folder, "bin", "pip"), ["install", "--quiet", `torch==${pytorchVersion}`, "numpy"], { timeout: 1_800_000 });
    await works();
    return python;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    note(`PyTorch can't be had here: ${error instanceof Error ? error.message.split("\n", 1)[0] : String(error)}; only the engine is measured`);
    return null;
  }
}
