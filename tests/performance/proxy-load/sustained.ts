/** A load that lasts: streams that play one rollout after another, each a history that grows call by call, begun at different moments. */
import { Client } from "undici";
import { createRandom } from "../../stand-ins/random.ts";

/** Where a stream's next rollout is played. */
interface Stage {
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  leave(): Promise<void>;
}

/** One call: when it was answered, in seconds from the start, and how long it took. */
export interface Sample {
  readonly at: number;
  readonly ms: number;
}

interface SustainedLoad {
  readonly streams: number;
  readonly seconds: number;
  readonly callsARollout: number;
  /** Time over which the streams begin. */
  readonly staggerSeconds: number;
  open(stream: number): Promise<Stage>;
}

/** Rejects when a call is not answered as it should be. */
export async function sustain(load: SustainedLoad): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const start = performance.now();
  await Promise.all(Array.from({ length: load.streams }, (_, stream) => playStream(load, stream, start, samples)));
  return samples;
}

async function playStream(load: SustainedLoad, stream: number, start: number, samples: Sample[]): Promise<void> {
  const end = start + load.seconds * 1000;
  const random = createRandom(stream + 1);
  await pause(((stream + random()) / load.streams) * load.staggerSeconds * 1000);
  for (let rollout = 0; performance.now() < end; rollout += 1) {
    const stage = await load.open(stream);
    const client = new Client(stage.origin);
    try {
      // The first rollouts are of different lengths, so that later ones do not begin together either.
      const calls = rollout === 0 ? 1 + Math.floor(random() * load.callsARollout) : load.callsARollout;
      await playRollout(client, stage, { name: `${stream}/${rollout}`, calls, streamed: stream % 2 === 1, end }, (ms) =>
        samples.push({ at: (performance.now() - start) / 1000, ms }),
      );
    } finally {
      await client.close();
      await stage.leave();
    }
  }
}

async function playRollout(
  client: Client,
  { path, key }: Stage,
  { name, calls, streamed, end }: { readonly name: string; readonly calls: number; readonly streamed: boolean; readonly end: number },
  answered: (ms: number) => void,
): Promise<void> {
  const first = [
    { role: "system", content: "You are an agent in a workspace.\n".repeat(90) },
    { role: "user", content: `Task ${name}: tidy up the reports.` },
  ];
  const turns = first.map((message) => JSON.stringify(message));
  for (let call = 0; call < calls && performance.now() < end; call += 1) {
    const body = `{"model":"policy","stream":${streamed},"max_tokens":1024,"tools":${tools},"messages":[${turns.join(",")}]}`;
    const began = performance.now();
    const response = await client.request({
      ...{ method: "POST", path: `${path}/chat/completions`, body },
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
    const text = await response.body.text();
    answered(performance.now() - began);
    if (response.statusCode !== 200 || !text.includes("I look at the next file")) throw new Error(`${response.statusCode}: ${text.slice(0, 300)}`);
    const id = `call_${call}`;
    const asked = { id, type: "function", function: { name: "bash", arguments: '{"command":"ls -la /app"}' } };
    turns.push(JSON.stringify({ role: "assistant", content: "I look at the next file.", tool_calls: [asked] }));
    turns.push(JSON.stringify({ role: "tool", tool_call_id: id, content: `${call}: drwxr-xr-x 2 root root 4096 report.csv\n`.repeat(12) }));
  }
}

const tools = JSON.stringify(
  ["bash", "read", "edit", "write"].map((name) => ({
    type: "function",
    function: {
      name,
      description: "Does one thing in the workspace. ".repeat(8),
      parameters: { type: "object", properties: { command: { type: "string" }, limit: { type: "integer" } }, required: ["command"] },
    },
  })),
);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
