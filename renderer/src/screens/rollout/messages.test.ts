import { describe, expect, it } from "vitest";
import type { MessageView } from "../../service/views.ts";
import { cutLine, messageLength, toolNameOf, unchangedPrefix } from "./messages.ts";

const message = (role: MessageView["role"], text: string, change: Partial<MessageView> = {}): MessageView => ({
  role,
  content: [{ type: "text", text }],
  reasoning: null,
  toolCalls: [],
  toolCallId: null,
  sampled: false,
  ...change,
});

describe("messages of a request", () => {
  const system = message("system", "s");
  const call = message("assistant", "", { toolCalls: [{ id: "1", name: "bash", arguments: "{}" }], reasoning: "why" });
  const result = message("tool", "out\noutput truncated after 4,096 bytes", { toolCallId: "1" });

  it("share a prefix with the call before", () => {
    expect(unchangedPrefix([system, call], [system, call, result])).toBe(2);
    expect(unchangedPrefix([message("system", "other"), call], [system, call])).toBe(0);
    expect(unchangedPrefix([system, call, result], [system])).toBe(1);
  });

  it("know their length, their tool and their cut", () => {
    expect(messageLength(call)).toBe(9);
    expect(toolNameOf([call], result)).toBe("bash");
    expect(cutLine(result)).toBe("output truncated after 4,096 bytes");
    expect(cutLine(message("tool", "a\n[1894 of 4894 characters cut]"))).toBe("[1894 of 4894 characters cut]");
    expect(cutLine(message("user", "truncated"))).toBeNull();
    expect(cutLine(message("tool", "the cut of the coat"))).toBeNull();
  });
});
