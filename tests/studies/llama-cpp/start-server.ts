/** llama.cpp's own HTTP server, in a process of its own that ends with this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface LlamaServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `python`: an interpreter that has `xllamacpp`; `window`: tokens of prompt and answer together. */
export async function startLlamaServer(python: string, file: string, window: number): Promise<LlamaServer> {
  const child = spawn(python, [join(import.meta.dirname, "serve.py"), file, String(window)], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = once(child, "close");
  let log = "";
  child.stderr.on("data", (chunk: Uint8Array) => {
    log = (log + Buffer.from(chunk).toString()).slice(-4_000);
  });
  const close = async (): Promise<void> => {
    child.stdin.end();
    const patience = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(patience);
  };
  const [url] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [unknown];
  if (typeof url === "string") return { url, close };
  throw new Error(`llama.cpp's server did not start: ${log.trim().split("\n").at(-1) ?? ""}`);
}
