/** Members of a request that both routes read or refuse. */
import { z } from "zod";
import { type Fault, invalidRequest } from "../dialects/dialect.ts";
import { readWhole, type ScannedBody } from "../dialects/request-body.ts";

/** vLLM's additions. */
export const tokenFieldsSchema = z.looseObject({
  return_token_ids: z.boolean().nullish(),
  stop_token_ids: z.array(z.number().int()).nullish(),
  ignore_eos: z.boolean().nullish(),
});

type Neutral = (value: unknown) => boolean;

const isOff: Neutral = (value) => value === false || value === 0;
const isEmpty: Neutral = (value) => typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** What would change an answer and is not offered, with the values that change nothing. Members that are named nowhere are ignored. */
const refused: Readonly<Record<string, Neutral>> = {
  frequency_penalty: isOff,
  presence_penalty: isOff,
  repetition_penalty: (value) => value === 1,
  logit_bias: isEmpty,
  best_of: (value) => value === 1,
  use_beam_search: isOff,
  prompt_logprobs: isOff,
  echo: isOff,
  suffix: (value) => value === "",
  min_tokens: isOff,
  bad_words: isEmpty,
  allowed_token_ids: isEmpty,
  response_format: (value) => typeof value === "object" && value !== null && "type" in value && value.type === "text",
  structured_outputs: isEmpty,
  guided_json: () => false,
  guided_regex: () => false,
  guided_choice: () => false,
  guided_grammar: () => false,
  chat_template: () => false,
  chat_template_kwargs: isEmpty,
  continue_final_message: isOff,
  add_generation_prompt: (value) => value === true,
  top_logprobs: isOff,
  n: (value) => value === 1,
  audio: () => false,
  modalities: (value) => Array.isArray(value) && value.every((item) => item === "text"),
};

/** Throws nothing: a body that is no JSON object, or asks for what is not offered, is a fault. */
export function readRequest(
  bytes: Uint8Array,
  list: string,
  model: string,
): { readonly ok: true; readonly body: ScannedBody } | { readonly ok: false; readonly fault: Fault } {
  let body: ScannedBody;
  try {
    body = readWhole(bytes, list);
  } catch (error) {
    return invalidRequest(`The body is no JSON object: ${error instanceof Error ? error.message : String(error)}.`, "invalid_json");
  }
  const asked = body.value.model;
  if (asked !== undefined && asked !== model)
    return {
      ok: false,
      fault: {
        status: 404,
        code: "model_not_found",
        type: "invalid_request_error",
        message: `There is no model ${JSON.stringify(asked)} here: it is called ${JSON.stringify(model)}.`,
      },
    };
  for (const [name, isNeutral] of Object.entries(refused)) {
    const value = body.value[name];
    if (value !== undefined && value !== null && !isNeutral(value))
      return invalidRequest(`\`${name}\` is not offered here: leave it out.`, "unsupported_parameter");
  }
  return { ok: true, body };
}

/** Ids that end the answer, beside those of the policy. */
export function endIdsOf(fields: z.output<typeof tokenFieldsSchema>, ownEndIds: readonly number[]): readonly number[] {
  return [...(fields.ignore_eos === true ? [] : ownEndIds), ...(fields.stop_token_ids ?? [])];
}
