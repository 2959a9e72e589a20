/** Requests of real harnesses: OpenAI Responses. */
import { png, type Shape } from "./shape.test-data.ts";

const responsesTool = { type: "function", name: "exec", description: "§tool", strict: false, parameters: { type: "object" } };
const input = (role: string, ...texts: string[]) => ({ type: "message", role, content: texts.map((text) => ({ type: "input_text", text })) });

export const responsesShapes: readonly Shape[] = [
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
];
