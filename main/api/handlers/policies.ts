import type { PolicyEntry } from "../../proxy/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import type { PolicyView } from "../views.ts";

function policyView(entry: PolicyEntry): PolicyView {
  const { definition, ...rest } = entry;
  return { id: definition.id, kind: definition.kind, ...rest, settings: "url" in definition ? settingsOf(definition) : null };
}

function settingsOf(definition: Extract<PolicyEntry["definition"], { readonly url: string }>): PolicyView["settings"] {
  const { model = null, keyVariable = null, prices = null, spendingLimit = null } = definition;
  return {
    ...{ model, keyVariable, spendingLimit },
    tokenizer: "tokenizer" in definition ? (definition.tokenizer ?? null) : null,
    contextWindow: "contextWindow" in definition ? (definition.contextWindow ?? null) : null,
    prices: prices === null ? null : pricesView(prices),
  };
}

function pricesView({ input, output, cachedInput }: { readonly input: number; readonly output: number; readonly cachedInput?: number | undefined }) {
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}

export function policyHandlers(os: ReturnType<typeof contractImplementer>, { policies }: WorkbenchParts) {
  return {
    list: os.policies.list.handler(() => policies.list().map(policyView)),
    add: os.policies.add.handler(async ({ input }) => policyView(await policies.add(input))),
    remove: os.policies.remove.handler(({ input }) => {
      policies.remove(input.id);
      return {};
    }),
    probe: os.policies.probe.handler(async ({ input }) => {
      const { policy, capture, lost } = await policies.probe(input.id);
      return { policy: { ...policyView(policy), capture }, lost: [...lost] };
    }),
  };
}
