/** The processes of the proxy's benchmark: a policy server, our proxy, mitmproxy. Each ends with its standard input. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../../main/machine/index.ts";
import { bundle } from "../measure/bundle.ts";
import type { Target } from "./load.ts";

const run = promisify(execFile);
/** The newest that runs on Python 3.10 and later. */
const mitmproxyVersion = "11.0.2";
const path = "/v1/chat/completions";

export interface Running {
  readonly target: Target;
  stop(): Promise<void>;
}

/** `spread`: share by which the delay of a call is longer or shorter. */
export async function startPolicy(delayMs: number, spread = 0): Promise<Running> {
  const { child, line } = await start(join(import.meta.dirname, "upstream-process.ts"), [String(delayMs), String(spread)]);
  return { target: { host: "127.0.0.1", port: Number(line), path: () => path, key: () => "none" }, stop: () => end(child) };
}

export async function startOurs(policy: Running, streams: number): Promise<Running> {
  const { child, line } = await start(await bundledProxy("proxy-process.ts"), [String(policy.target.port), String(streams)]);
  const { address, sessions } = JSON.parse(line) as { address: string; sessions: { path: string; key: string }[] };
  const [host = "", port] = address.split(":");
  const target: Target = {
    host,
    port: Number(port),
    path: (stream) => (sessions[stream]?.path ?? "") + path,
    key: (stream) => sessions[stream]?.key ?? "",
  };
  return { target, stop: () => end(child) };
}

export interface ProxyUnderLoad {
  readonly address: string;
  /** POST /open, /close/r/…, /memory, /check. */
  readonly control: string;
  stop(): Promise<void>;
}

export async function startProxyUnderLoad(policy: Running): Promise<ProxyUnderLoad> {
  const { child, line } = await start(await bundledProxy("load-process.ts"), [String(policy.target.port)], ["--expose-gc"]);
  return { ...(JSON.parse(line) as { address: string; control: string }), stop: () => end(child) };
}

async function bundledProxy(file: string): Promise<string> {
  const worker = join(import.meta.dirname, "../../../main/store/background/worker.ts");
  return join(await bundle(parse(file).name, { proxy: join(import.meta.dirname, file), "store-worker": worker }), "proxy.js");
}

/** Reverse mode, saving every flow. null with a note when it can't be had. */
export async function startMitmproxy(policy: Running, note: (line: string) => void): Promise<Running | null> {
  const program = await installMitmproxy(note);
  if (program === null) return null;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "openforge-mitmproxy-"));
  const options = ["--mode", `reverse:http://127.0.0.1:${policy.target.port}`, "--listen-host", "127.0.0.1", "--listen-port", String(port)];
  const child = spawn(program, ["--quiet", ...options, "--set", `confdir=${folder}`, "--save-stream-file", join(folder, "flows")], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const target: Target = { host: "127.0.0.1", port, path: () => path, key: () => "none" };
  for (let tries = 0; tries < 100; tries += 1) {
    if (await answers(port)) break;
    await new Promise((done) => setTimeout(done, 200));
  }
  return {
    target,
    async stop() {
      child.kill();
      await new Promise((done) => child.once("exit", done));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function installMitmproxy(note: (line: string) => void): Promise<string | null> {
  const folder = join(cacheFolder(), `mitmproxy-${mitmproxyVersion}`);
  const program = join(folder, "bin", "mitmdump");
  if (existsSync(program)) return program;
  note(`installing mitmproxy ${mitmproxyVersion} from PyPI into ${folder}`);
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    await run("python3", ["-m", "venv", folder], { timeout: 120_000 });
    await run(join(folder, "bin", "pip"), ["install", "--quiet", `mitmproxy==${mitmproxyVersion}`], { timeout: 300_000 });
    return program;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    note(`mitmproxy can't be had here: ${error instanceof Error ? error.message.split("\n", 1)[0] : String(error)}`);
    return null;
  }
}

function start(file: string, words: readonly string[], flags: readonly string[] = []): Promise<{ child: ChildProcess; line: string }> {
  const loader = file.endsWith(".ts") ? ["--import", "tsx"] : [];
  const child = spawn(process.execPath, [...loader, ...flags, file, ...words], { stdio: ["pipe", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += String(chunk);
      if (text.includes("\n")) resolve({ child, line: text.trim() });
    });
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  const exited = new Promise((done) => child.once("exit", done));
  child.stdin?.end();
  await exited;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) });
    return true;
  } catch {
    return false;
  }
}
