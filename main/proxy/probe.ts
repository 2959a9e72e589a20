/** What a policy endpoint gives, found by asking it. */
import type { CaptureLevel } from "../../engine/conversation/index.ts";
import { WorkbenchError } from "../errors.ts";
import { captureOf } from "./answer-form.ts";
import { createHttpClient } from "./upstreams/http-client.ts";
import { createServer } from "./upstreams/server.ts";
import type { Upstream } from "./upstreams/upstream.ts";

const probeMs = 60_000;

/** The capture level of one small call. Throws what the endpoint failed with. */
export async function probeUpstream(upstream: Upstream): Promise<CaptureLevel> {
  const result = await upstream.complete(
    {
      conversation: {
        model: upstream.id,
        messages: [{ role: "user", content: [{ type: "text", text: "Say yes." }] }],
        tools: [],
        sampling: { maxTokens: 8, temperature: 0 },
        stream: false,
        extra: "{}",
      },
      rolloutId: "probe",
      attempt: 0,
      callIndex: 0,
      labels: { dialect: "chat" },
    },
    AbortSignal.timeout(probeMs),
  );
  if (!result.ok) throw new WorkbenchError("upstream", result.failure.message, result.failure.remedy);
  return captureOf(result.answer);
}

/** What can't be done at this level, one sentence each. */
export function lostAt(capture: CaptureLevel, upstream: Upstream): readonly string[] {
  const lost: string[] = [];
  if (capture === "nothing") return ["Nothing is recorded: no rollout of this policy can be used."];
  if (capture === "text-only")
    lost.push("Without token ids its rollouts cannot be trained by reinforcement; they can be looked at, compared and exported for SFT.");
  if (capture === "ids") lost.push("Without log-probabilities an update cannot be corrected for the policy's drift.");
  if (capture !== "text-only" && !upstream.takesTokenIds)
    lost.push(
      "Without a tokenizer folder prompts go as messages: a template that rewrites history breaks rollouts into several chains. Give --tokenizer.",
    );
  return lost;
}

/** Whether a server is vLLM, by what it says of itself. Everything else is taken for OpenAI-compatible. */
export async function introduce(url: string, key: string | null): Promise<"vllm" | "openai-compatible"> {
  const server = createServer({ url, key });
  const client = createHttpClient();
  try {
    const signal = AbortSignal.timeout(5_000);
    const list = await server.models(signal);
    if (list.ok && list.models.some((model) => model.ownedBy === "vllm")) return "vllm";
    const version = await client.send({ method: "GET", url: `${server.base.replace(/\/v1$/, "")}/version` }, signal);
    return version.ok && version.status === 200 && list.ok && list.models.some((model) => model.contextWindow !== null)
      ? "vllm"
      : "openai-compatible";
  } catch {
    return "openai-compatible";
  } finally {
    server.close();
    client.close();
  }
}
