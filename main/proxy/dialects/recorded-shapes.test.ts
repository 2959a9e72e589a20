/**
 * What real harnesses send, as it was recorded: the shape is theirs, every text is ours. Texts that begin with § must be found in what
 * was read, wherever it went: nothing of a conversation is dropped in silence.
 */
import { expect, test } from "vitest";
import type { BlobHash, Message } from "../../../engine/conversation/index.ts";
import { dialects } from "./by-id.ts";
import type { DialectId, MediaStore } from "./dialect.ts";
import { readWhole } from "./request-body.ts";

const media: MediaStore = { put: (bytes) => `h${bytes.length}` as BlobHash, get: () => null };
const png = "data:image/png;base64,AAEC";

interface Shape {
  readonly of: string;
  readonly dialect: DialectId;
  readonly path?: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** s(ystem), d(eveloper), u(ser), a(ssistant), t(ool), o(ther) in their order; capital = with an image. */
  readonly roles: string;
  /** `name arguments` of all calls. */
  readonly calls?: readonly string[];
}

const chatTool = { type: "function", function: { name: "bash", description: "§tool", parameters: { type: "object" } } };
const chatCall = (id: string, command: string) => ({
  id,
  type: "function",
  function: { name: "bash", arguments: JSON.stringify({ command }) },
});
const responsesTool = { type: "function", name: "exec", description: "§tool", strict: false, parameters: { type: "object" } };
const input = (role: string, ...texts: string[]) => ({ type: "message", role, content: texts.map((text) => ({ type: "input_text", text })) });
const messagesTool = { name: "Bash", description: "§tool", input_schema: { type: "object" } };
const marked = { cache_control: { type: "ephemeral" } };

const shapes: readonly Shape[] = [
  {
    of: "OpenCode",
    dialect: "chat",
    roles: "suat",
    calls: ['bash {"command":"ls"}'],
    body: {
      model: "m",
      max_tokens: 8192,
      messages: [
        { role: "system", content: "§system" },
        { role: "user", content: '"§task"' },
        { role: "assistant", content: "", reasoning_content: "§think", tool_calls: [chatCall("c1", "ls")] },
        { role: "tool", tool_call_id: "c1", content: "§out" },
      ],
      tools: [chatTool],
      tool_choice: "auto",
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  {
    of: "OpenCode, a compaction without tools",
    dialect: "chat",
    roles: "suau",
    body: {
      model: "m",
      max_tokens: 8192,
      messages: [
        { role: "system", content: "§summarise" },
        { role: "user", content: [{ type: "text", text: "§task" }] },
        { role: "assistant", content: "§text" },
        { role: "user", content: "§provide a summary" },
      ],
      stream: true,
    },
  },
  {
    of: "Pi",
    dialect: "chat",
    roles: "suattu",
    calls: ['bash {"command":"a"}', 'bash {"command":"b"}'],
    body: {
      model: "m",
      messages: [
        { role: "system", content: "§system" },
        { role: "user", content: [{ type: "text", text: "§task" }] },
        { role: "assistant", content: null, reasoning_content: "§think", tool_calls: [chatCall("a", "a"), chatCall("b", "b")] },
        { role: "tool", content: "§one", tool_call_id: "a" },
        { role: "tool", content: "§two", tool_call_id: "b" },
        { role: "user", content: [{ type: "text", text: "§more" }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 8192,
      tools: [chatTool],
    },
  },
  {
    of: "ZeroClaw, keys in its own order",
    dialect: "chat",
    roles: "suat",
    calls: ['shell {"command":"ls"}'],
    body: {
      messages: [
        { content: "§system", role: "system" },
        { content: "[2026-11-30 07:19:00 +00:00] §task", role: "user" },
        {
          reasoning_content: "§think",
          role: "assistant",
          tool_calls: [{ function: { arguments: '{"command":"ls"}', name: "shell" }, id: "c1", type: "function" }],
        },
        { content: "§out", name: "shell", role: "tool", tool_call_id: "c1" },
      ],
      model: "m",
      stream: false,
      tool_choice: "auto",
      tools: [{ function: { description: "§tool", name: "shell", parameters: {} }, type: "function" }],
    },
  },
  {
    of: "ZeroClaw, tools in plain text",
    dialect: "chat",
    roles: "suau",
    body: {
      model: "m",
      stream: false,
      messages: [
        { role: "system", content: "§system" },
        { role: "user", content: "§task" },
        { role: "assistant", content: '<tool_call>{"name":"shell","arguments":{"command":"§ls"}}</tool_call>' },
        { role: "user", content: "[Tool results]\n§out" },
      ],
    },
  },
  {
    of: "Qwen Code, tool answers and users in parts, an answer that was cut and goes on",
    dialect: "chat",
    roles: "suatau",
    calls: ['run_shell_command {"command":"ls"}'],
    body: {
      model: "m",
      messages: [
        { role: "system", content: "§system" },
        {
          role: "user",
          content: [
            { type: "text", text: "§context" },
            { type: "text", text: "§task" },
          ],
        },
        {
          role: "assistant",
          content: "§text",
          reasoning_content: "§think",
          tool_calls: [{ id: "c1", type: "function", function: { name: "run_shell_command", arguments: '{"command":"ls"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "§out" }] },
        { role: "assistant", content: "§half a sen" },
        { role: "user", content: [{ type: "text", text: "§continue" }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 32000,
      tools: [chatTool],
    },
  },
  {
    of: "OpenClaw over Chat, a context that stands last in every call",
    dialect: "chat",
    roles: "suatu",
    calls: ['exec {"command":"ls"}'],
    body: {
      model: "policy",
      messages: [
        { role: "system", content: "§system" },
        { role: "user", content: [{ type: "text", text: "§task" }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "callx", type: "function", function: { name: "exec", arguments: '{"command":"ls"}' } }],
        },
        { role: "tool", content: "§out", tool_call_id: "callx" },
        { role: "user", content: [{ type: "text", text: "<<<BEGIN>>> §volatile" }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 8192,
      tools: [chatTool],
    },
  },
  {
    of: "mini-SWE-agent",
    dialect: "chat",
    roles: "suat",
    calls: ['bash {"command":"ls"}'],
    body: {
      model: "m",
      messages: [
        { role: "system", content: "§system" },
        { role: "user", content: "§task" },
        {
          content: "§text",
          role: "assistant",
          tool_calls: [chatCall("c1", "ls")],
          function_call: null,
          reasoning_content: "§think",
          provider_specific_fields: { refusal: null, reasoning_content: "§again" },
        },
        { role: "tool", tool_call_id: "c1", content: "<returncode>0</returncode>§out" },
      ],
      tools: [chatTool],
    },
  },
  {
    of: "browser-use, a schema and one picture",
    dialect: "chat",
    roles: "sU",
    body: {
      model: "m",
      max_completion_tokens: 4096,
      messages: [
        { role: "system", content: "§system" },
        {
          role: "user",
          content: [
            { type: "text", text: "§state" },
            { type: "image_url", image_url: { url: png, detail: "auto" } },
          ],
        },
      ],
      response_format: { type: "json_schema", json_schema: { name: "agent_output", strict: true, schema: { title: "§schema" } } },
    },
  },
  {
    of: "smolagents",
    dialect: "chat",
    roles: "suau",
    body: {
      model: "m",
      messages: [
        { role: "system", content: [{ type: "text", text: "§system" }] },
        { role: "user", content: [{ type: "text", text: "§task" }] },
        { role: "assistant", content: [{ type: "text", text: "§Thought" }] },
        { role: "user", content: [{ type: "text", text: "§Observation" }] },
      ],
      stop: ["Observation:", "Calling tools:", "</code>"],
    },
  },
  {
    of: "OpenHands",
    dialect: "chat",
    roles: "su",
    body: {
      model: "m",
      messages: [
        { role: "system", content: [{ type: "text", text: "§system" }] },
        { role: "user", content: [{ type: "text", text: "§task" }] },
      ],
      tools: [chatTool],
      reasoning_effort: "high",
      prompt_cache_key: "§conversation",
    },
  },
  {
    of: "UI-TARS and Agent-S3, pictures in the history",
    dialect: "chat",
    roles: "sUaU",
    body: {
      model: "m",
      messages: [
        { role: "system", content: [{ type: "text", text: "§system" }] },
        {
          role: "user",
          content: [
            { type: "text", text: "§task" },
            { type: "image_url", image_url: { url: png } },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "Thought: §x\nAction: click(start_box='<|box_start|>(1,2)<|box_end|>')" }] },
        { role: "user", content: [{ type: "image_url", image_url: { url: png, detail: "high" } }] },
      ],
      do_sample: true,
      max_tokens: 500,
      temperature: 0,
    },
  },
  {
    of: "Codex",
    dialect: "responses",
    roles: "dduuatta",
    calls: ['exec_command {"cmd" : "ls"}', 'spawn_agent {"message":"§sub"}'],
    body: {
      model: "m",
      stream: true,
      store: false,
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "§root",
      client_metadata: { session_id: "§s", "x-codex-turn-metadata": "{}" },
      tools: [
        responsesTool,
        { type: "namespace", name: "multi_agent_v1", description: "§space", tools: [{ ...responsesTool, name: "spawn_agent" }] },
        { type: "custom", name: "apply_patch", description: "§patch", format: { type: "grammar", syntax: "lark", definition: "§grammar" } },
      ],
      input: [
        { ...input("developer", "§system"), id: "i1" },
        input("developer", "§permissions", "§more"),
        input("user", "§environment"),
        input("user", "§task"),
        { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "" }], content: [{ type: "reasoning_text", text: "§think" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "§text", annotations: [] }] },
        { type: "function_call", id: "f", call_id: "c1", name: "exec_command", arguments: '{"cmd" : "ls"}' },
        { type: "function_call", id: "g", call_id: "c2", namespace: "multi_agent_v1", name: "spawn_agent", arguments: '{"message":"§sub"}' },
        { type: "function_call_output", id: "o", call_id: "c1", output: "Chunk ID: 1\n§out" },
        { type: "function_call_output", call_id: "c2", output: "§spawned" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "§then" }] },
      ],
    },
  },
  {
    of: "Codex, a picture as a tool's answer and what a subagent brought",
    dialect: "responses",
    roles: "uaTu",
    calls: ['view_image {"path":"p"}'],
    body: {
      model: "m",
      stream: true,
      input: [
        input("user", "§task"),
        { type: "function_call", call_id: "c1", name: "view_image", arguments: '{"path":"p"}' },
        { type: "function_call_output", call_id: "c1", output: [{ type: "input_image", image_url: png }] },
        input("user", "<subagent_notification>§told</subagent_notification>"),
      ],
    },
  },
  {
    of: "Codex, a compaction",
    dialect: "responses",
    roles: "duau",
    body: {
      model: "m",
      stream: true,
      tools: [],
      parallel_tool_calls: false,
      input: [
        input("developer", "§system"),
        input("user", "§task"),
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "§text" }] },
        input("user", "§summarise"),
      ],
    },
  },
  {
    of: "Codex in its code mode",
    dialect: "responses",
    roles: "douat",
    calls: ["exec §await tools.x()"],
    body: {
      model: "m",
      stream: true,
      tools: [],
      input: [
        input("developer", "§system"),
        { type: "additional_tools", role: "developer", tools: [{ type: "namespace", name: "§space", tools: [] }] },
        input("user", "§task"),
        { type: "custom_tool_call", call_id: "c1", name: "exec", input: "§await tools.x()" },
        { type: "custom_tool_call_output", call_id: "c1", output: "§out" },
      ],
    },
  },
  {
    of: "OpenClaw, ids made longer",
    dialect: "responses",
    roles: "duuat",
    calls: ['exec {"command":"ls"}'],
    body: {
      model: "policy",
      input: [
        input("developer", "§system"),
        input("user", "[Mon 2026-11-30 07:00] §task"),
        input("user", "<<<BEGIN>>> §context"),
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "§think" }], encrypted_content: "foreign" },
        { type: "function_call", call_id: "call_c1_fc_r1", name: "exec", arguments: '{"command":"ls"}' },
        { type: "function_call_output", call_id: "call_c1_fc_r1", output: "§out" },
      ],
      stream: true,
      max_output_tokens: 8192,
      tools: [responsesTool],
      reasoning: { effort: "medium", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      store: false,
    },
  },
  {
    of: "cua-agent, a computer that answers with its screen",
    dialect: "responses",
    roles: "uaT",
    calls: ['computer {"type":"click","button":"left","x":1,"y":2}'],
    body: {
      model: "computer-use-preview",
      stream: false,
      truncation: "auto",
      tools: [{ type: "computer_use_preview", display_width: 1024, display_height: 768, environment: "linux" }],
      input: [
        { role: "user", content: "§task" },
        {
          type: "computer_call",
          id: "cu",
          call_id: "c1",
          status: "completed",
          pending_safety_checks: [],
          action: { type: "click", button: "left", x: 1, y: 2 },
        },
        { type: "computer_call_output", call_id: "c1", output: { type: "input_image", image_url: png } },
      ],
    },
  },
  {
    of: "Claude Code, with markers, a system message inside and options of one message",
    dialect: "messages",
    path: "/v1/messages?beta=true",
    roles: "susatts",
    calls: ['Bash {"command":"ls"}', 'Agent {"prompt":"§sub"}'],
    body: {
      model: "m",
      max_tokens: 8192,
      stream: true,
      metadata: { user_id: '{"session_id":"§session"}' },
      thinking: { type: "adaptive", display: "§shown" },
      context_management: { edits: [{ type: "§edit", keep: "all" }] },
      output_config: { effort: "high" },
      system: [
        { type: "text", text: "§billing" },
        { type: "text", text: "§system", ...marked },
      ],
      tools: [messagesTool, { name: "Later", description: "§later", input_schema: {}, defer_loading: true }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "§reminder" },
            { type: "text", text: "§task", ...marked },
          ],
        },
        { role: "system", content: [{ type: "text", text: "§inside", ...marked }], output_config: { effort: "high" } },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "§think", signature: "foreign" },
            { type: "text", text: "§text" },
            { type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" }, caller: { type: "direct" } },
            { type: "tool_use", id: "c2", name: "Agent", input: { prompt: "§sub" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "§out", is_error: false },
            { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "§subout" }], ...marked },
          ],
        },
        { role: "system", content: "§agents" },
      ],
    },
  },
  {
    of: "Claude Code, a picture that it read and tools that it found",
    dialect: "messages",
    roles: "uaTatu",
    calls: ['Read {"file_path":"p"}', 'ToolSearch {"query":"x"}'],
    body: {
      model: "m",
      max_tokens: 8192,
      messages: [
        { role: "user", content: "§task" },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "Read", input: { file_path: "p" } }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "c1",
              content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } }],
            },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "c2", name: "ToolSearch", input: { query: "x" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c2", content: [{ type: "tool_reference", tool_name: "§Found" }] },
            { type: "text", text: "§summarise all of it" },
          ],
        },
      ],
    },
  },
  {
    of: "Pi, OpenCode and ZeroClaw over Messages, markers that move",
    dialect: "messages",
    roles: "suat",
    calls: ['bash {"command":"ls"}'],
    body: {
      model: "m",
      max_tokens: 8192,
      stream: true,
      system: [{ type: "text", text: "§system", ...marked }],
      messages: [
        { role: "user", content: [{ type: "text", text: "§task" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "§out", is_error: true, ...marked }] },
      ],
      tools: [{ name: "bash", description: "§tool", input_schema: { type: "object" }, ...marked }],
    },
  },
  {
    of: "cua-agent over Messages, the computer tool",
    dialect: "messages",
    roles: "uaT",
    calls: ['computer {"action":"left_click","coordinate":[1,2]}'],
    body: {
      model: "claude-sonnet-4-5",
      max_tokens: 64000,
      tools: [{ type: "computer_20250124", name: "computer", display_width_px: 1024, display_height_px: 768, display_number: 1 }],
      messages: [
        { role: "user", content: "§task" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c1", name: "computer", input: { action: "left_click", coordinate: [1, 2] } }],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "c1",
              content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } }],
            },
          ],
        },
      ],
    },
  },
  {
    of: "Gemini CLI",
    dialect: "gemini",
    path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    roles: "suattU",
    calls: ['run_shell_command {"command":"ls"}', 'invoke_agent {"prompt":"§sub"}'],
    body: {
      contents: [
        { role: "user", parts: [{ text: "§context" }, { text: "§task" }] },
        {
          role: "model",
          parts: [
            { text: "§think", thought: true },
            { text: "§text" },
            { functionCall: { id: "c1", name: "run_shell_command", args: { command: "ls" } }, thoughtSignature: "foreign" },
            { functionCall: { id: "c2", name: "invoke_agent", args: { prompt: "§sub" } } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "c1", name: "run_shell_command", response: { output: "§out" } } },
            { functionResponse: { id: "c2", name: "invoke_agent", response: { output: "§subout" } } },
            { inlineData: { mimeType: "image/png", data: "AAEC" } },
          ],
        },
      ],
      systemInstruction: { role: "user", parts: [{ text: "§system" }] },
      tools: [{ functionDeclarations: [{ name: "run_shell_command", description: "§tool", parametersJsonSchema: { type: "object" } }] }],
      generationConfig: { temperature: 1, topP: 0.95, topK: 64, thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 } },
    },
  },
  {
    of: "Gemini CLI, the classifier of its router",
    dialect: "gemini",
    path: "/v1beta/models/gemini-2.5-flash-lite:generateContent",
    roles: "su",
    body: {
      contents: [{ role: "user", parts: [{ text: "§task" }] }],
      systemInstruction: { role: "user", parts: [{ text: "§classify" }] },
      generationConfig: { temperature: 0, maxOutputTokens: 1024, responseMimeType: "application/json", responseJsonSchema: { title: "§schema" } },
    },
  },
];

test.each(shapes)("$of ($dialect)", ({ dialect: id, path = "/v1", body, roles, calls = [] }) => {
  const dialect = dialects[id];
  const decoded = dialect.decode(readWhole(Buffer.from(JSON.stringify(body)), dialect.list), media, path);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const { messages } = decoded.conversation;
  expect(messages.map(roleLetter).join("")).toBe(roles);
  expect(
    messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : [])).map((call) => `${call.name} ${call.arguments}`),
  ).toEqual(calls);
  for (const message of messages) if (message.role === "tool") expect(message.toolCallId).not.toBe("");

  const kept = JSON.stringify(decoded.conversation);
  for (const text of markedTexts(body)) expect(kept, text).toContain(text);
});

function roleLetter(message: Message): string {
  const letter = message.role.charAt(0);
  const hasImage = message.role !== "other" && message.content.some((part) => part.type === "image");
  return hasImage ? letter.toUpperCase() : letter;
}

/** Every `§word` of a request. */
function markedTexts(value: unknown): readonly string[] {
  return [...new Set(JSON.stringify(value).match(/§\p{L}+/gu) ?? [])];
}
