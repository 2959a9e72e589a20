/**
 * The one internal form of a model call, between the dialects that harnesses speak and the upstreams that answer.
 * Owns: what a request asks and what an answer says. Invariant: lossless for what a dialect can say; JSON that a template
 * may print (tool schemas, tool arguments) is kept as text, so number spelling and key order survive.
 */

/** JSON as text. Key order, number spelling and long integers are as the sender wrote them. */
type JsonText = string;

/** A body or an attachment in the blob store, named by the lower-case hex SHA-256 of its bytes. */
export type BlobHash = string & { readonly brand: "BlobHash" };

export type MediaSource = { readonly kind: "blob"; readonly hash: BlobHash } | { readonly kind: "url"; readonly url: string };

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly source: MediaSource; readonly mediaType?: string; readonly detail?: string }
  | { readonly type: "file"; readonly source: MediaSource; readonly mediaType?: string; readonly name?: string }
  /** A part this product does not know; passed on unchanged where the upstream speaks the same dialect. */
  | { readonly type: "other"; readonly raw: JsonText };

export interface ToolCall {
  /** As the dialect gave it; unique within one answer. */
  readonly id: string;
  readonly name: string;
  /** Responses "namespace" tools: the namespace's name. */
  readonly namespace?: string;
  /** `custom` tools take free text, not JSON. */
  readonly kind: "function" | "custom";
  /** JSON text of an object for `function`; free text for `custom`. In an answer it is canonical compact JSON. */
  readonly arguments: string;
}

/** Fields of a message or tool that have no place of their own, as one JSON object; passed on where the upstream speaks the same dialect. */
interface WithExtra {
  readonly extra?: JsonText;
}

export interface AssistantMessage extends WithExtra {
  readonly role: "assistant";
  readonly content: readonly ContentPart[];
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
}

export type Message =
  | ({ readonly role: "system" | "developer" | "user"; readonly content: readonly ContentPart[]; readonly name?: string } & WithExtra)
  | AssistantMessage
  | ({ readonly role: "tool"; readonly toolCallId: string; readonly content: readonly ContentPart[]; readonly name?: string } & WithExtra)
  /** An item this product does not know, in its dialect's JSON. */
  | { readonly role: "other"; readonly raw: JsonText };

export type ToolDefinition =
  | ({
      readonly kind: "function";
      readonly name: string;
      readonly namespace?: string;
      readonly namespaceDescription?: string;
      readonly description?: string;
      /** JSON Schema as text. */
      readonly parameters?: JsonText;
      readonly strict?: boolean;
    } & WithExtra)
  /** A tool kind this product does not know (web_search, grammar tools …): kept and passed. */
  | { readonly kind: "other"; readonly raw: JsonText };

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** Sampling settings; absent = the policy's default. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  /** Tokens of the answer at most. */
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
}

/** What a harness asked, whatever its dialect. */
export interface Conversation {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly sampling: Sampling;
  readonly stream: boolean;
  /** Request fields that have no place above (metadata, reasoning effort, response_format …), as one JSON object. */
  readonly extra: JsonText;
}

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter";

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens?: number;
}

/** Token ids as the sampling engine reported them. `logprobs`, when present, has one finite-or-not number per id. */
export interface CapturedTokens {
  readonly promptIds: Int32Array;
  readonly sampledIds: Int32Array;
  readonly logprobs?: Float32Array;
}

/** What a policy answered, whatever its dialect. */
export interface Answer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly tokens?: CapturedTokens;
  /** The policy wrote something that looks like a tool call and cannot be read. */
  readonly unparsedToolCall: boolean;
  /** Version of the weights that sampled; an upstream that has none says its model name. */
  readonly policyVersion: string;
}

/** How much of the tokens a policy endpoint gives back. */
export const captureLevels = ["ids+logprobs", "ids", "text-only", "nothing"] as const;
export type CaptureLevel = (typeof captureLevels)[number];
