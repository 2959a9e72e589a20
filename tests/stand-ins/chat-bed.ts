/** A proxy bed with OpenAI-compatible stand-in servers behind it, closed together. */
import { createUpstream, type Upstream } from "../../main/proxy/index.ts";
import { type Behaviour, type ChatServer, startChatServer } from "./chat-server.ts";
import { layProxyBed, type ProxyBed } from "./proxy-bed.ts";

export interface ChatBed extends ProxyBed {
  /** A server that behaves so, and the policy that asks it. `over`: further members of the policy's definition. */
  serve(behave: (index: number, body: string) => Behaviour, over?: object): Promise<{ server: ChatServer; upstream: Upstream }>;
  upstreamAt(url: string, over?: object): Promise<Upstream>;
}

export async function layChatBed(options: Parameters<typeof layProxyBed>[0] = {}): Promise<ChatBed> {
  const bed = await layProxyBed(options);
  const servers: ChatServer[] = [];
  const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
  const upstreamAt = (url: string, over: object = {}): Promise<Upstream> =>
    createUpstream(
      { kind: "openai-compatible", id: "stand-in", url, messageRules, ...over },
      { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: (hash) => bed.store.blobs.get(hash) } },
    );
  return {
    ...bed,
    upstreamAt,
    async serve(behave, over) {
      const server = await startChatServer(behave);
      servers.push(server);
      return { server, upstream: await upstreamAt(server.url, over) };
    },
    async close() {
      await bed.close();
      for (const server of servers) await server.close();
    },
  };
}

export const say = (text: string): Behaviour => ({ do: "say", text });
export const hello = { model: "m", messages: [{ role: "user", content: "hello" }] };
export const settled = (ms = 60): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when `condition` holds; rejects when it does not within two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !condition(); tries += 1) await settled(10);
  if (!condition()) throw new Error("what was waited for did not come about within two seconds");
}
