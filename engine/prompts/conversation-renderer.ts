/** Renders conversations of our form with one template, its special tokens and its rules. */
import type { ToolDefinition } from "../conversation/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../json/index.ts";
import { type ChatTemplate, chatContext, type Rendered, TemplateError } from "../templates/index.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { messageInput, toolsInput } from "./chat-input.ts";
import type { ConversationRules } from "./contract.ts";
import type { FittedMessage } from "./fit-conversation.ts";

export interface RenderRequest {
  readonly messages: readonly FittedMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly addGenerationPrompt: boolean;
  readonly now: Date;
}

export class ConversationRenderer {
  readonly #template: ChatTemplate;
  readonly #variables: JsonObject;
  /** Tools of the last conversations: a harness sends the same with every call. */
  #tools: { readonly given: readonly ToolDefinition[]; readonly input: readonly JsonObject[] | null } | null = null;

  /** `variables`: JSON text of an object; it wins over the tokenizer's special tokens. */
  constructor(template: ChatTemplate, tokenizer: Tokenizer, variables: string | undefined) {
    this.#template = template;
    const given = variables === undefined ? new Map<string, JsonValue>() : parseJson(variables);
    if (!isJsonObject(given)) throw new TypeError("template variables must be a JSON object");
    this.#variables = new Map<string, JsonValue>([...Object.entries(tokenizer.specialTexts), ...given]);
  }

  /** Throws `TemplateError`. A span's source is the index of the fitted message. */
  render({ messages, tools, addGenerationPrompt, now }: RenderRequest, rules: ConversationRules): Rendered {
    if (this.#tools?.given !== tools) this.#tools = { given: tools, input: toolsInput(tools) };
    const context = chatContext({
      messages: messages.map((message) => messageInput(message, rules)),
      tools: this.#tools.input,
      addGenerationPrompt,
      variables: this.#variables,
    });
    return this.#template.render(context, { now });
  }

  /** The same, with null for a conversation that the template refuses. */
  tryRender(request: RenderRequest, rules: ConversationRules): Rendered | null {
    try {
      return this.render(request, rules);
    } catch (error) {
      if (error instanceof TemplateError) return null;
      throw error;
    }
  }
}

/** Where the assistant turn that was message `origin` of the conversation stands among the fitted ones; -1 for nowhere. */
export function fittedIndexOf(messages: readonly FittedMessage[], origin: number): number {
  return messages.findIndex((message) => message.role === "assistant" && message.origin === origin);
}
