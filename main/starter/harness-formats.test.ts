/**
 * The teacher's transcripts are what the harnesses send, to the token: the three programs do tasks with real bash, a small endpoint answers as the teacher
 * did, and every prompt that the product assembles from their requests is the beginning of the transcript.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import type { Conversation, Message } from "../../engine/conversation/index.ts";
import { createPromptBuilder, type PromptHistory } from "../../engine/prompts/index.ts";
import { seededRandom } from "../../engine/statistics/index.ts";
import { compileTemplate } from "../../engine/templates/index.ts";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { chatTemplate } from "./chat-template.ts";
import { type StarterTask, starterFamilies, starterHarnesses } from "./contract.ts";
import { drawTask } from "./families.ts";
import { harnessFormats } from "./harness-formats.ts";
import { starterTokenizer } from "./tokenizer.ts";
import { type Transcript, teacherTranscript } from "./transcript.ts";

const harnessesFolder = join(import.meta.dirname, "../../resources/harnesses");
const folder = mkdtempSync(join(tmpdir(), "openforge-formats-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

const files = starterTokenizer();
const tokenizer = loadTokenizer(files.tokenizerJson, files.configJson);
const builder = createPromptBuilder({ tokenizer, template: compileTemplate(chatTemplate) });

interface ChatRequest {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description: string; readonly parameters: object } }[];
}

function conversationOf({ messages, tools = [] }: ChatRequest): Conversation {
  const content = (text: string | null) => (text === null ? [] : [{ type: "text", text } as const]);
  return {
    ...{ model: "m", sampling: {}, stream: false, extra: "{}" },
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      kind: "function",
      name,
      description,
      parameters: JSON.stringify(parameters),
    })),
    messages: messages.map((message): Message => {
      if (message.role === "tool") return { role: "tool", toolCallId: message.tool_call_id ?? "", content: content(message.content) };
      if (message.role === "system" || message.role === "user") return { role: message.role, content: content(message.content) };
      const calls = (message.tool_calls ?? []).map((call) => ({ id: call.id, kind: "function" as const, ...call.function }));
      return { role: "assistant", content: content(message.content), toolCalls: calls };
    }),
  };
}

/** One task's endpoint: says what the teacher said, and keeps the prompts that it was asked with. */
class TeacherEndpoint {
  readonly #transcript: Transcript;
  readonly #history: PromptHistory = builder.history();
  readonly #asTemplate: PromptHistory = builder.history();
  readonly prompts: { readonly assembled: readonly number[]; readonly templated: readonly number[]; readonly expected: readonly number[] }[] = [];

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  answer(request: ChatRequest): object {
    const turn = this.prompts.length;
    const before = this.#transcript.parts.slice(0, 2 * turn + 1);
    const conversation = conversationOf(request);
    const { ids } = this.#history.assemble(conversation, { mode: "as-sampled", now: new Date(0) });
    const templated = this.#asTemplate.assemble(conversation, { mode: "as-template", now: new Date(0) }).ids;
    const expected = before.flatMap(({ text }) => Array.from(tokenizer.encode(text)));
    this.prompts.push({ assembled: Array.from(ids), templated: Array.from(templated), expected });
    const sampledIds = tokenizer.encode(this.#transcript.parts[2 * turn + 1]?.text ?? "");
    const { message, finishReason } = builder.readAnswer({
      ...{ sampledIds, conversation, reasoningOpened: false, finishReason: "stop" },
      callId: (index) => `call-${turn}-${index}`,
    });
    this.#history.record({ callId: `${turn}`, conversation, promptIds: ids, sampledIds, message });
    const [said] = message.content;
    const tool_calls = message.toolCalls.map(({ id, name, arguments: given }) => ({ id, type: "function", function: { name, arguments: given } }));
    return {
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: said?.type === "text" ? said.text : null, ...(tool_calls.length > 0 ? { tool_calls } : {}) },
          finish_reason: finishReason === "tool-calls" ? "tool_calls" : finishReason,
        },
      ],
    };
  }
}

function openResident(harness: string) {
  const child = spawn(process.execPath, [join(harnessesFolder, harness, `${harness}.mjs`), "--resident"], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    say,
    async hear(): Promise<Record<string, unknown>> {
      const { value } = await lines.next();
      return JSON.parse(value ?? "{}");
    },
  };
}

function runBash(command: string, workdir: string): Promise<{ output: string; exitCode: number | null }> {
  const script = 'exec 2>&1; exec bash --norc --noprofile -c "$0"';
  const child = spawn("/bin/sh", ["-c", script, command], { cwd: workdir, stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH } });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve) => child.once("close", (exitCode) => resolve({ output, exitCode })));
}

function layOut(task: StarterTask): string {
  const workdir = mkdtempSync(join(folder, "task-"));
  for (const name of task.folders) mkdirSync(join(workdir, name));
  for (const [path, line] of Object.entries(task.files)) {
    mkdirSync(dirname(join(workdir, path)), { recursive: true });
    writeFileSync(join(workdir, path), `${line}\n`);
  }
  return workdir;
}

test.each(starterHarnesses)("%s sends what the teacher saw", { timeout: 60_000 }, async (harness) => {
  const random = seededRandom(31);
  const resident = openResident(harness);
  expect(await resident.hear()).toEqual({ type: "ready" });
  let endpoint: TeacherEndpoint | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(JSON.stringify(endpoint?.answer(JSON.parse(Buffer.concat(chunks).toString("utf8")))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    for (let count = 0; count < 25; count += 1) {
      const task = drawTask(starterFamilies[count % 5] ?? "write", "held-out", random);
      const transcript = teacherTranscript(task, harnessFormats[harness], random);
      endpoint = new TeacherEndpoint(transcript);
      const workdir = layOut(task);
      const settings = { maxTurns: 12, resultLimit: 8000, commandSeconds: 60 };
      const start = { type: "start", session: `s${count}`, key: "k", model: "m", task: task.instruction, workdir, contextWindow: 256, maxTokens: 64 };
      resident.say({ ...start, baseUrl, settings });
      let message = await resident.hear();
      for (; message.type !== "end"; message = await resident.hear()) {
        if (message.type !== "exec") continue;
        const result = await runBash(String(message.command), workdir);
        resident.say({ type: "result", session: `s${count}`, id: message.id, ...result, timedOut: false, droppedBytes: 0, error: null });
      }
      for (const { assembled, templated, expected } of endpoint.prompts) {
        expect(tokenizer.decode(assembled)).toBe(tokenizer.decode(expected));
        expect(assembled).toEqual(expected);
        expect(templated).toEqual(expected);
      }
      expect(endpoint.prompts.length).toBe(transcript.parts.length / 2);
      const last = /(?:Answer: )?(.*)<\|im_end\|>$/.exec(transcript.parts.at(-1)?.text ?? "")?.[1];
      expect(message).toMatchObject({ exitCode: 0, text: last });
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("each harness's system turn is one token", () => {
  for (const harness of starterHarnesses) {
    const { system, tools } = harnessFormats[harness];
    const first: Conversation = {
      ...{ model: "m", sampling: {}, stream: false, extra: "{}", messages: [{ role: "system", content: [{ type: "text", text: system }] }] },
      tools: tools.map((tool) => ({ kind: "function", ...tool, parameters: JSON.stringify(tool.parameters) })),
    };
    // Header, the turn, its end, and the header of the answer.
    expect(builder.history().assemble(first, { mode: "as-template", now: new Date(0) }).ids.length).toBe(4);
  }
});

test("the files that every harness has are the same", () => {
  const read = (path: string): string => readFileSync(join(harnessesFolder, path), "utf8");
  expect(read("scratchpad/program.mjs")).toBe(read("console/program.mjs"));
  for (const harness of ["console", "scratchpad"]) expect(read(`${harness}/resident.mjs`)).toBe(read("react/resident.mjs"));
});

test("calls are read in Hermes' form; turns end with the end token", () => {
  expect(builder.toolCallFormat).toBe("hermes");
  expect(builder.endIds).toEqual([tokenizer.special.eos]);
});
