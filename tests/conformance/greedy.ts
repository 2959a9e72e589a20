/** Greedy continuations by the decoding graph, all prompts of a case at once. */
import { DecoderModel, Generator, plainSampling } from "../../engine/decoding/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { close, first } from "./closeness.ts";
import type { LoadedModel } from "./model-case.ts";

export interface GreedyCase {
  readonly prompt: readonly number[];
  readonly output: readonly number[];
  readonly logprobs: readonly number[] | null;
}

export async function greedyDifference(
  runtime: Runtime,
  loaded: LoadedModel,
  cases: readonly GreedyCase[],
  logprobTolerance: number,
): Promise<string | null> {
  const longest = Math.max(...cases.map(({ prompt, output }) => prompt.length + output.length));
  const chunk = 32;
  const capacity = Math.ceil((longest + 1) / chunk) * chunk;
  const model = await DecoderModel.open({ runtime, ...loaded, adapter: null, lanes: 2, capacity });
  const generator = new Generator(model, { deterministic: false, chunk, parkedBytes: 0 });
  generator.publish("base", {});
  const results = await Promise.all(
    cases.map(({ prompt, output }) =>
      generator.generate({
        promptIds: Int32Array.from(prompt),
        sampling: { ...plainSampling, temperature: 0 },
        stop: { endIds: [], maxTokens: output.length, stopStrings: [], decoder: null },
        seed: 0,
        version: "base",
      }),
    ),
  );
  await model.close();
  return first(
    ...results.map(({ ids, logprobs }, index) => {
      const wanted = cases[index];
      if (ids.join() !== wanted?.output.join()) return `prompt ${index} is continued by ${ids.join(" ")}, expected ${wanted?.output.join(" ")}`;
      return first(
        ...(wanted.logprobs ?? []).map((logprob, at) =>
          close(`log-probability ${at} of prompt ${index}`, logprobs[at] ?? Number.NaN, logprob, logprobTolerance),
        ),
      );
    }),
  );
}
