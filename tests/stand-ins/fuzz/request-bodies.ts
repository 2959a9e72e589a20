/** Requests of every dialect that use much of it: what is spoilt, in places, by the fuzz. */
const schema = { type: "object", properties: { command: { type: "string" }, limit: { type: "integer" } }, required: ["command"] };
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const fuzzDialects = ["chat", "responses", "messages", "gemini"] as const;
export type FuzzDialect = (typeof fuzzDialects)[number];

export const chatBody = {
  model: "m",
  messages: [
    { role: "system", content: "You work in a folder." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look: 据 \ud83d\ude00" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}`, detail: "low" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "I list it.",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "a.txt\nb.txt" },
    { role: "user", content: "Go on." },
  ],
  tools: [{ type: "function", function: { name: "bash", description: "Runs it.", parameters: schema } }],
  tool_choice: "auto",
  temperature: 0.7,
  top_p: 0.9,
  max_tokens: 200,
  stop: ["END"],
  seed: 7,
  stream: true,
  stream_options: { include_usage: true },
};

export const responsesBody = {
  model: "m",
  instructions: "You work in a folder.",
  input: [
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Look." },
        { type: "input_image", image_url: `data:image/png;base64,${pixel}` },
      ],
    },
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "I list it." }], encrypted_content: null },
    { type: "function_call", call_id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
    { type: "function_call_output", call_id: "call_1", output: "a.txt" },
    { type: "custom_tool_call", call_id: "call_2", name: "patch", input: "*** Begin" },
    { type: "custom_tool_call_output", call_id: "call_2", output: "done" },
    { role: "user", content: "Go on." },
  ],
  tools: [
    { type: "function", name: "bash", description: "Runs it.", strict: false, parameters: schema },
    { type: "custom", name: "patch", description: "Patches.", format: { type: "text" } },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  include: ["reasoning.encrypted_content"],
  max_output_tokens: 200,
  temperature: 1,
  store: false,
  stream: true,
  prompt_cache_key: "one",
};

export const messagesBody = {
  model: "m",
  max_tokens: 200,
  system: [{ type: "text", text: "You work in a folder.", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look." },
        { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I list it.", signature: "s" },
        { type: "text", text: "Listing." },
        { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "a.txt" }], is_error: false }] },
  ],
  tools: [{ name: "bash", description: "Runs it.", input_schema: schema }],
  tool_choice: { type: "auto" },
  thinking: { type: "enabled", budget_tokens: 1024 },
  metadata: { user_id: '{"session_id":"one"}' },
  stop_sequences: ["END"],
  stream: true,
};

export const geminiBody = {
  systemInstruction: { role: "user", parts: [{ text: "You work in a folder." }] },
  contents: [
    { role: "user", parts: [{ text: "Look." }, { inlineData: { mimeType: "image/png", data: pixel } }] },
    { role: "model", parts: [{ text: "I list it.", thought: true }, { functionCall: { id: "c1", name: "bash", args: { command: "ls" } } }] },
    { role: "user", parts: [{ functionResponse: { id: "c1", name: "bash", response: { output: "a.txt" } } }] },
  ],
  tools: [{ functionDeclarations: [{ name: "bash", description: "Runs it.", parametersJsonSchema: schema }] }],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  generationConfig: {
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    maxOutputTokens: 200,
    stopSequences: ["END"],
    thinkingConfig: { includeThoughts: true },
  },
};
