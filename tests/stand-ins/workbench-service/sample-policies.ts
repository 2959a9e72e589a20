/** Policies of the stand-in service: those of the catalogue, one that does not answer, weights that can be imported or not. */
import { type implement, ORPCError } from "@orpc/server";
import type { contract } from "../../../main/api/contract.ts";
import { policies } from "./sample-catalogue.ts";
import { lines, pause } from "./sample-work.ts";

export function samplePolicies(os: ReturnType<typeof implement<typeof contract>>) {
  return {
    list: os.policies.list.handler(() => policies),
    add: os.policies.add.handler(({ input }) => ({
      id: input.id,
      kind: input.kind ?? "openai-compatible",
      address: input.url,
      capture: null,
      takesTokenIds: false,
      builtIn: false,
      settings: null,
      spending: null,
    })),
    import: os.policies.import.handler(async function* ({ input: { path, name } }) {
      if (path.includes("broken")) {
        yield { type: "progress" as const, line: "15 of 148 weights" };
        await pause(400);
        throw new ORPCError("WORKBENCH", {
          message: "broken.gguf holds a gpt2 model, which this engine does not run.",
          data: { code: "unavailable", remedy: "Use a model of Llama, Qwen2 or Qwen3.", exitCode: 2 },
        });
      }
      const policy = `embedded:${name ?? path}`;
      yield* lines(["31 of 310 weights", "155 of 310 weights", "310 of 310 weights"], { policy, folder: path, layers: 28, vocabulary: 151_936 });
    }),
    remove: os.policies.remove.handler(() => ({})),
    probe: os.policies.probe.handler(({ input }) => {
      if (input.id === "gateway")
        throw new ORPCError("WORKBENCH", {
          message: "The policy endpoint http://10.0.0.7:4000/v1 does not answer.",
          data: { code: "upstream", remedy: "Start it, or correct its address.", exitCode: 1 },
        });
      return { policy: policies.find((each) => each.id === input.id) ?? (policies[0] as (typeof policies)[number]), lost: [] };
    }),
  };
}
