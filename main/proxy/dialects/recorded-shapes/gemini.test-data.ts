/** Requests of real harnesses: Gemini. */
import type { Shape } from "./shape.test-data.ts";

export const geminiShapes: readonly Shape[] = [
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
