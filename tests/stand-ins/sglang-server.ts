/**
 * A stand-in for an SGLang server: `/generate` with ids and log-probs in its fields, a chat route that gives text only. `cut` makes the
 * calls that it names wait until they are aborted.
 */
import type { ServerResponse } from "node:http";
import { isJsonObject, type JsonObject, parseJson } from "../../engine/json/index.ts";
import { json, startJsonServer } from "./json-server.ts";
import { createTokenPolicy, idsOf, logprobOf, numberOf, type TokenPolicy, type TokenPolicyOptions, toolNames } from "./token-policy.ts";

export interface SglangServer extends TokenPolicy {
  readonly url: string;
  /** Bodies of `/generate`. */
  readonly asked: readonly JsonObject[];
  /** Calls that were aborted by name. */
  readonly aborted: readonly string[];
  close(): Promise<void>;
}

export interface SglangServerOptions extends TokenPolicyOptions {
  /** Weights were loaded while it ran. */
  readonly weightVersion?: string;
  /** Members of the answer's `meta_info` that take the place of its own. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** No answer comes until the call is aborted. */
  readonly hangs?: boolean;
}

export async function startSglangServer(options: SglangServerOptions): Promise<SglangServer> {
  const policy = createTokenPolicy(options);
  const asked: JsonObject[] = [];
  const aborted: string[] = [];
  const waiting = new Map<string, ServerResponse>();

  function generate(body: JsonObject, response: ServerResponse): void {
    asked.push(body);
    const rid = String(body.get("rid"));
    if (options.hangs === true) {
      waiting.set(rid, response);
      return;
    }
    const promptIds = idsOf(body.get("input_ids"));
    const parameters = body.get("sampling_params");
    const most = isJsonObject(parameters) ? numberOf(parameters.get("max_new_tokens")) : null;
    if (promptIds.length + (most ?? 1) > policy.contextWindow) {
      const message = `The input (${promptIds.length} tokens) is longer than the model's context length (${policy.contextWindow} tokens).`;
      json(response, 400, { error: { message } });
      return;
    }
    const { ids, finish } = policy.sample(promptIds, ["bash", "read_file"], most ?? 128);
    json(response, 200, {
      text: policy.tokenizer.decode([...ids]),
      output_ids: ids,
      meta_info: {
        id: rid,
        finish_reason: finish === "stop" ? { type: "stop", matched: policy.endId } : { type: "length", length: ids.length },
        prompt_tokens: promptIds.length,
        completion_tokens: ids.length,
        cached_tokens: Math.min(3, promptIds.length),
        weight_version: options.weightVersion ?? "default",
        output_token_logprobs: ids.map((id) => [logprobOf(id), id, null]),
        ...options.meta,
      },
    });
  }

  function chat(body: JsonObject, response: ServerResponse): void {
    const promptIds = [...policy.tokenizer.encode(policy.render(body))];
    const { ids, finish } = policy.sample(promptIds, toolNames(body), numberOf(body.get("max_tokens")) ?? 128);
    json(response, 200, {
      ...{ id: "c", object: "chat.completion", model: body.get("model") },
      choices: [
        { index: 0, message: { role: "assistant", ...policy.message(ids, toolNames(body)) }, finish_reason: finish, matched_stop: policy.endId },
      ],
      usage: { prompt_tokens: promptIds.length, completion_tokens: ids.length },
    });
  }

  const server = await startJsonServer((path, text, response) => {
    if (path === "/v1/models") {
      json(response, 200, { object: "list", data: [{ id: "stand-in", owned_by: "sglang", max_model_len: policy.contextWindow }] });
      return;
    }
    const body = parseJson(text);
    if (!isJsonObject(body)) json(response, 400, { error: { message: "no object" } });
    else if (path === "/generate") generate(body, response);
    else if (path === "/v1/chat/completions") chat(body, response);
    else if (path === "/abort_request") {
      const rid = String(body.get("rid"));
      aborted.push(rid);
      waiting.get(rid)?.destroy();
      json(response, 200, null);
    } else json(response, 404, { detail: "Not Found" });
  });
  return { ...policy, ...server, asked, aborted };
}
