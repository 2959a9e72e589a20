/** Requests of real harnesses: Anthropic Messages. */
import type { Shape } from "./shape.test-data.ts";

const messagesTool = { name: "Bash", description: "§tool", input_schema: { type: "object" } };
const marked = { cache_control: { type: "ephemeral" } };

export const messagesShapes: readonly Shape[] = [
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
];
