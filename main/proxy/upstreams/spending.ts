/**
 * What the calls of policies with prices have cost, counted from the usage of every answer and kept in the store. One ledger for all
 * who use a policy: rollouts at once share its limit. Calls that are under way when a limit is reached are still paid.
 */
import { z } from "zod";
import type { Answer, Conversation, Usage } from "../../../engine/conversation/index.ts";
import type { ServerDefinition, UpstreamDefinition } from "./definition.ts";
import type { Upstream, UpstreamFailure } from "./upstream.ts";

export interface Spending {
  readonly calls: number;
  readonly promptTokens: number;
  /** Of the prompt tokens, those that the server had cached. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** In the currency of the prices, at the prices of the time. */
  readonly cost: number;
  /** null = none. */
  readonly limit: number | null;
}

interface SpendingLedger {
  /** null when the policy has no prices. */
  of(definition: UpstreamDefinition): Spending | null;
  /** The upstream with its calls counted, and refused once the limit is reached. Without prices: the upstream itself. */
  watch(upstream: Upstream, definition: UpstreamDefinition): Upstream;
  forget(id: string): void;
}

/** Where the totals stay: JSON text. */
interface SpendingPlace {
  read(): string | null;
  write(json: string): void;
}

type Prices = NonNullable<ServerDefinition["prices"]>;

const totalsSchema = z.record(
  z.string(),
  z.object({ calls: z.number(), promptTokens: z.number(), cachedTokens: z.number(), completionTokens: z.number(), cost: z.number() }),
);
type Totals = z.infer<typeof totalsSchema>[string];

const nothing: Totals = { calls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, cost: 0 };

export function createSpendingLedger(place: SpendingPlace): SpendingLedger {
  const readAll = (): Record<string, Totals> => {
    const json = place.read();
    return json === null ? {} : totalsSchema.parse(JSON.parse(json));
  };

  function of(definition: UpstreamDefinition): Spending | null {
    if (!("url" in definition) || definition.prices === undefined) return null;
    return { ...(readAll()[definition.id] ?? nothing), limit: definition.spendingLimit ?? null };
  }

  function add(id: string, usage: Usage, prices: Prices): void {
    const all = readAll();
    const known = all[id] ?? nothing;
    const cached = usage.cachedTokens ?? 0;
    const next: Totals = {
      calls: known.calls + 1,
      promptTokens: known.promptTokens + usage.promptTokens,
      cachedTokens: known.cachedTokens + cached,
      completionTokens: known.completionTokens + usage.completionTokens,
      cost: known.cost + costOf(usage, prices),
    };
    place.write(JSON.stringify({ ...all, [id]: next }));
  }

  return {
    of,
    watch(upstream, definition) {
      if (!("url" in definition) || definition.prices === undefined) return upstream;
      const { id, prices } = definition;
      return {
        ...upstream,
        async complete(request, signal) {
          const spending = of(definition);
          if (spending !== null && spending.limit !== null && spending.cost >= spending.limit)
            return { ok: false, failure: limitReached(id, spending) };
          const result = await upstream.complete(request, signal);
          if (!result.ok) return result;
          const { usage } = result.answer;
          const isSaid = usage.promptTokens + usage.completionTokens > 0;
          add(id, isSaid ? usage : estimateUsage(request.conversation, result.answer), prices);
          if (isSaid) return result;
          return { ...result, notes: [...(result.notes ?? []), "The server did not say how many tokens this call had; its cost is an estimate."] };
        },
      };
    },
    forget(id) {
      const { [id]: _forgotten, ...rest } = readAll();
      place.write(JSON.stringify(rest));
    },
  };
}

/** Prices are for a million tokens; cached ones are a part of the prompt's. */
export function costOf({ promptTokens, completionTokens, cachedTokens = 0 }: Usage, { input, output, cachedInput = input }: Prices): number {
  const cached = Math.min(cachedTokens, promptTokens);
  return ((promptTokens - cached) * input + cached * cachedInput + completionTokens * output) / 1e6;
}

/** Rather too much than too little: most texts have more characters a token. */
const charactersPerToken = 3;

function estimateUsage(conversation: Conversation, { message }: Answer): Usage {
  const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charactersPerToken);
  return { promptTokens: tokens([conversation.messages, conversation.tools]), completionTokens: tokens(message) };
}

function limitReached(id: string, { cost, limit }: Spending): UpstreamFailure {
  return {
    kind: "spending-limit",
    message: `The policy ${id} has reached its spending limit: ${amount(cost)} of ${amount(limit ?? 0)} are spent.`,
    remedy: `Raise the limit (openforge policy add ${id} … --spending-limit N --replace), or take another policy.`,
    retryable: false,
  };
}

function amount(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 4 });
}
