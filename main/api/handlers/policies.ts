import { isAbsolute } from "node:path";
import { WorkbenchError } from "../../errors.ts";
import { importModelApart } from "../../models/index.ts";
import type { PolicyEntry } from "../../proxy/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import type { ImportedPolicyView, PolicyView } from "../policy-views.ts";
import { streamWork } from "../work-stream.ts";

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

interface WeightsToImport {
  readonly path: string;
  readonly name?: string | undefined;
}

/** A line for every tenth of the weights. */
async function importWeights(
  { path, name }: WeightsToImport,
  dataFolder: string,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<ImportedPolicyView> {
  if (!isAbsolute(path)) throw new WorkbenchError("usage", `The path ${path} is not absolute.`, "Give the whole path.");
  let tenths = 0;
  return importModelApart(path, {
    ...{ dataFolder, signal },
    ...(name === undefined ? {} : { name }),
    onProgress: (done, total) => {
      const reached = Math.floor((10 * done) / total);
      if (reached > tenths) report(`${done} of ${total} weights`);
      tenths = reached;
    },
  });
}

export function policyHandlers(os: ReturnType<typeof contractImplementer>, { policies, store }: WorkbenchParts) {
  return {
    list: os.policies.list.handler(() => policies.list().map(policyView)),
    add: os.policies.add.handler(async ({ input }) => policyView(await policies.add(input))),
    import: os.policies.import.handler(({ input, signal }) =>
      streamWork(signal, (report, stop) => importWeights(input, store.dataFolder, report, stop)),
    ),
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
