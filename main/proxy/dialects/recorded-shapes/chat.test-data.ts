/** Requests of real harnesses: OpenAI Chat Completions. */
import { png, type Shape } from "./shape.test-data.ts";

const chatTool = { type: "function", function: { name: "bash", description: "§tool", parameters: { type: "object" } } };
const chatCall = (id: string, command: string) => ({
  id,
  type: "function",
  function: { name: "bash", arguments: JSON.stringify({ command }) },
});

export const chatShapes: readonly Shape[] = [
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
];
