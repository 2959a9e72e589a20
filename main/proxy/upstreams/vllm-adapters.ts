/**
 * Adapters of training runs in vLLM servers: loaded by path for the first who holds one, unloaded after the last. Each version goes under
 * a name of its own: a server answers from what it cached under an old name.
 */

import { WorkbenchError } from "../../errors.ts";
import { createVersionHolds, type VersionHolds } from "../../sampler/index.ts";
import { createServer, type ServerReply } from "./server.ts";

interface ServedAdapter {
  /** Name that the server serves it under. */
  readonly name: string;
  /** As both this machine and the server see it. */
  readonly folder: string;
}

export interface VllmAdapters {
  /** Rejects with WorkbenchError when the server does not take it. The returned function gives it back; call it once. */
  hold(server: { readonly url: string; readonly key: string | null }, adapter: ServedAdapter): Promise<() => void>;
  /** Takes out what is loaded. */
  close(): Promise<void>;
}

/** How long a server may take to load an adapter. */
const loadMs = 120_000;
const idleMs = 10_000;

export function createVllmAdapters(): VllmAdapters {
  const servers = new Map<string, VersionHolds<ServedAdapter>>();
  return {
    async hold({ url, key }, adapter) {
      const known = servers.get(url) ?? holdsOf(url, key);
      servers.set(url, known);
      await known.hold(adapter);
      return () => known.release(adapter.name);
    },
    async close() {
      const all = [...servers.values()];
      servers.clear();
      await Promise.all(all.map((holds) => holds.dropAll()));
    },
  };
}

function holdsOf(url: string, key: string | null): VersionHolds<ServedAdapter> {
  const post = async (path: string, body: object): Promise<ServerReply> => {
    const server = createServer({ url, key });
    try {
      return await server.post(path, Buffer.from(JSON.stringify(body)), AbortSignal.timeout(loadMs));
    } finally {
      server.close();
    }
  };
  return createVersionHolds<ServedAdapter>({
    load: async ({ name, folder }) => {
      const reply = await post("/v1/load_lora_adapter", { lora_name: name, lora_path: folder });
      if (reply.ok || reply.failure.message.includes("has already been loaded")) return;
      throw notTaken(url, folder, reply.failure.message);
    },
    drop: async (name) => {
      const reply = await post("/v1/unload_lora_adapter", { lora_name: name });
      if (!reply.ok) console.error(`policy: ${url} keeps the adapter ${name}: ${reply.failure.message}`);
    },
    idleMs,
  });
}

function notTaken(url: string, folder: string, said: string): WorkbenchError {
  // Where adapters cannot be loaded, the server has no such route.
  if (/\(404\): Not Found$/.test(said))
    return new WorkbenchError(
      "upstream",
      `The vLLM server at ${url} takes no adapters while it runs.`,
      "Start it with --enable-lora and with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True in its environment.",
    );
  return new WorkbenchError(
    "upstream",
    `The vLLM server at ${url} did not load the adapter in ${folder}: ${said}`,
    "It must see that folder under the same path, and be started with --enable-lora and a --max-lora-rank that is large enough.",
  );
}
