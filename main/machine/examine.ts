/** What this machine offers, and the one thing to do for each that is missing. Every line is tried, not guessed. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { SandboxKind, SandboxProvider } from "../sandboxes/index.ts";

export interface Finding {
  readonly name: string;
  readonly status: "ready" | "missing" | "degraded";
  readonly detail: string;
  readonly remedy: string | null;
}

export interface ExaminedParts {
  readonly store: { readonly dataFolder: string };
  readonly sandboxes: Readonly<Record<SandboxKind, SandboxProvider>>;
  readonly harnesses: HarnessRegistry;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const run = promisify(execFile);
const lowDiskBytes = 5 * 1024 ** 3;

export async function examineMachine(parts: ExaminedParts): Promise<Finding[]> {
  const findings = await Promise.all([
    sandboxFinding("Local sandbox", parts.sandboxes.local),
    sandboxFinding("Docker", parts.sandboxes.docker),
    kubernetes(parts.env),
    gpu(),
    nodeRuntime(),
    pythonRuntime(),
    cargo(),
    harnesses(parts.harnesses),
    desktop(parts.env),
    disk(parts.store.dataFolder),
  ]);
  return findings;
}

async function sandboxFinding(name: string, provider: SandboxProvider): Promise<Finding> {
  const { ready, detail, remedy } = await provider.probe();
  if (ready) return { name, status: "ready", detail, remedy };
  const limited = (await provider.fallback?.probe())?.ready === true;
  if (!limited) return { name, status: "missing", detail, remedy };
  const left = "only react runs, with an allow-list of commands and without any isolation, on tasks made for that";
  return { name, status: "degraded", detail: `${detail}; ${left}`, remedy };
}

function kubernetes(env: ExaminedParts["env"]): Finding {
  const config = env.KUBECONFIG ?? join(env.HOME ?? "", ".kube", "config");
  return existsSync(config)
    ? {
        name: "Kubernetes",
        status: "degraded",
        detail: `a configuration at ${config}; this version runs rollouts locally and in Docker`,
        remedy: null,
      }
    : { name: "Kubernetes", status: "missing", detail: "no configuration; not needed on one machine", remedy: null };
}

async function gpu(): Promise<Finding> {
  const name = "GPU";
  try {
    const { stdout } = await run("nvidia-smi", ["--query-gpu=name,memory.total", "--format=csv,noheader"], { timeout: 5000 });
    return { name, status: "ready", detail: stdout.trim().split("\n").join("; "), remedy: null };
  } catch {
    const render = existsSync("/dev/dri") ? readdirSync("/dev/dri").filter((entry) => entry.startsWith("renderD")) : [];
    if (render.length > 0) return { name, status: "degraded", detail: `no NVIDIA driver; ${render.length} graphics device for WebGPU`, remedy: null };
    return { name, status: "missing", detail: "none; policies of yours are reached over HTTP, the scripted policy needs none", remedy: null };
  }
}

function nodeRuntime(): Finding {
  return { name: "Node for harnesses", status: "ready", detail: `${process.version} (${process.execPath})`, remedy: null };
}

async function pythonRuntime(): Promise<Finding> {
  const name = "Python for harnesses";
  try {
    const { stdout } = await run("python3", ["-c", "import sys, venv; print(sys.version.split()[0])"], { timeout: 5000 });
    return { name, status: "ready", detail: `Python ${stdout.trim()} with venv`, remedy: null };
  } catch {
    return {
      name,
      status: "missing",
      detail: "python3 with venv was not found; only harnesses written in Python need it",
      remedy: "Install python3 and python3-venv.",
    };
  }
}

async function cargo(): Promise<Finding> {
  const name = "Cargo for harnesses";
  try {
    const { stdout } = await run("cargo", ["--version"], { timeout: 5000 });
    return { name, status: "ready", detail: stdout.trim(), remedy: null };
  } catch {
    return {
      name,
      status: "missing",
      detail: "cargo was not found; only harnesses that are built as Rust crates need it, once",
      remedy: "Install Rust (rustup), or bring the built harness in a shared OPENFORGE_CACHE.",
    };
  }
}

async function harnesses(registry: HarnessRegistry): Promise<Finding> {
  const entries = await registry.list();
  const faulty = entries.filter((entry) => entry.fault !== null);
  const installed = entries.filter((entry) => entry.installed).map((entry) => entry.id);
  const detail = `${entries.length} known, installed: ${installed.join(", ") || "none"}`;
  const first = faulty[0];
  if (first === undefined) return { name: "Harnesses", status: "ready", detail, remedy: null };
  return {
    name: "Harnesses",
    status: "degraded",
    detail: `${detail}; ${first.id}: ${first.fault}`,
    remedy: `Correct ${join(first.folder, "manifest.yaml")}.`,
  };
}

function desktop(env: ExaminedParts["env"]): Finding {
  const name = "Display";
  const display = process.platform === "linux" ? (env.WAYLAND_DISPLAY ?? env.DISPLAY ?? "") : process.platform;
  return display === ""
    ? { name, status: "missing", detail: "none; the workbench is served for a browser", remedy: null }
    : { name, status: "ready", detail: display, remedy: null };
}

function disk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${(free / 1024 ** 3).toFixed(1)} GB free for ${folder}`;
  if (free >= lowDiskBytes) return { name: "Disk", status: "ready", detail, remedy: null };
  return { name: "Disk", status: "degraded", detail, remedy: "Free some space, or move the data folder with OPENFORGE_HOME." };
}
