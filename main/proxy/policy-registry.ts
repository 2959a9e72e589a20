/** The policies of one data folder. Endpoints are settings in the store; keys stay in the environment. */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve as resolvePath } from "node:path";
import { z } from "zod";
import { type CaptureLevel, captureLevels } from "../../engine/conversation/index.ts";
import { WorkbenchError } from "../errors.ts";
import { createUpstream, keyOf, shippedTokenizer, type UpstreamParts } from "./create-upstream.ts";
import { firstIssue } from "./dialects/zod-issue.ts";
import { embeddedDefinition, isEmbedded } from "./embedded-name.ts";
import type { PolicyEntry, PolicyInput, PolicyRegistry, PolicyRegistryOptions } from "./policy-contract.ts";
import { loadPolicyText } from "./policy-text.ts";
import { introduce, lostAt, probeUpstream } from "./probe.ts";
import { createTrainingUpstream, definitionOf as definitionOfTraining, isTraining, trainingPolicy } from "./training-policy.ts";
import { type ServerDefinition, type TokenServerDefinition, type UpstreamDefinition, upstreamDefinitionSchema } from "./upstreams/definition.ts";
import { createSpendingLedger } from "./upstreams/spending.ts";
import type { Upstream } from "./upstreams/upstream.ts";
import { createVllmAdapters } from "./upstreams/vllm-adapters.ts";

const settingKey = "policies";
const spendingKey = "policy-spending";
const builtInId = "scripted";
const savedSchema = z.array(z.object({ definition: upstreamDefinitionSchema, capture: z.enum(captureLevels).nullable() }));
type Saved = z.infer<typeof savedSchema>[number];

export function createPolicyRegistry(options: PolicyRegistryOptions): PolicyRegistry {
  const { store, policiesFolder, env } = options;
  const parts: UpstreamParts = {
    env,
    policiesFolder,
    media: { put: (bytes) => store.blobs.put(bytes).hash, get: (hash) => store.blobs.get(hash) },
    ...(options.embedded === undefined ? {} : { embedded: options.embedded }),
  };
  const adapters = createVllmAdapters();
  const ledger = createSpendingLedger({ read: () => store.setting(spendingKey), write: (json) => store.setSetting(spendingKey, json) });
  const builtIn: UpstreamDefinition = { kind: "scripted", id: builtInId, file: join(policiesFolder, "scripted.yaml") };

  const saved = (): readonly Saved[] => {
    const json = store.setting(settingKey);
    return json === null ? [] : savedSchema.parse(JSON.parse(json));
  };
  const save = (entries: readonly Saved[]): void => store.setSetting(settingKey, JSON.stringify(entries));
  const describe = (definition: UpstreamDefinition, capture: CaptureLevel | null, builtIn: boolean): PolicyEntry => ({
    definition,
    address: addressOf(definition),
    capture,
    takesTokenIds: takesTokenIds(definition),
    builtIn,
    spending: ledger.of(definition),
  });
  const entry = (known: Saved): PolicyEntry => describe(known.definition, known.capture, false);
  const find = (id: string): Saved | null => saved().find((each) => each.definition.id === id) ?? null;

  /** Models that were imported, by the name that resolves to them. */
  function imported(): readonly PolicyEntry[] {
    const folder = options.embedded?.modelsFolder ?? null;
    if (folder === null || !existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => !name.startsWith(".") && existsSync(join(folder, name, "config.json")))
      .map((name) => describe({ ...embeddedDefinition(`embedded:${name}`, folder), id: `embedded:${name}` }, "ids+logprobs", false));
  }

  /** Keys that are in use must never be written, wherever a server repeats them. */
  function guardKey(definition: UpstreamDefinition): void {
    if (!("url" in definition)) return;
    const key = keyOf(definition, parts);
    if (key !== null && key.length >= 6) store.redactor.declare(`key-of-${definition.id}`, key, null);
  }

  async function definitionOf(name: string): Promise<UpstreamDefinition> {
    if (name === builtInId) return builtIn;
    if (name.startsWith("scripted:")) return { kind: "scripted", id: name, file: resolvePath(name.slice("scripted:".length)) };
    if (isEmbedded(name)) return embeddedDefinition(name, options.embedded?.modelsFolder ?? null);
    if (isTraining(name)) return definitionOfTraining(await trainingPolicy(name, options.trainingFolder));
    const known = find(name);
    if (known !== null) return known.definition;
    if (/^https?:\/\//.test(name)) return fromInput({ id: urlId(name), url: name });
    const ids = [builtInId, ...saved().map((each) => each.definition.id)];
    throw new WorkbenchError(
      "not-found",
      `There is no policy "${name}".`,
      `Known: ${ids.join(", ")}; or give a URL, scripted:FILE, embedded:FOLDER or training:RUN.`,
    );
  }

  async function open(name: string): Promise<{ readonly definition: UpstreamDefinition; readonly upstream: Upstream }> {
    if (isTraining(name)) {
      const policy = await trainingPolicy(name, options.trainingFolder);
      const upstream = await createTrainingUpstream(policy, { ...parts, adapters, saved: sampledBy });
      // What a run's sampler costs is the server's that it is rented from.
      const { sampler } = policy.version.run;
      const server = sampler === "embedded" ? null : (find(sampler.vllm)?.definition ?? null);
      return { definition: definitionOfTraining(policy), upstream: server === null ? upstream : ledger.watch(upstream, server) };
    }
    const definition = await definitionOf(name);
    if (definition.kind === "scripted" && !existsSync(definition.file))
      throw new WorkbenchError("not-found", `The rule file ${definition.file} does not exist.`, "Name an existing file: scripted:FILE.");
    guardKey(definition);
    return { definition, upstream: ledger.watch(await createUpstream(definition, parts), definition) };
  }

  function sampledBy(id: string): UpstreamDefinition | null {
    const known = find(id)?.definition ?? null;
    if (known !== null) guardKey(known);
    return known;
  }

  /** Without a kind the server is asked what it is. */
  async function fromInput(input: PolicyInput): Promise<UpstreamDefinition> {
    refuseKeyInAddress(input.url);
    const { tokenizer, contextWindow, ...common } = withoutUndefined(input);
    const draft = parseDefinition({ ...common, kind: "openai-compatible" });
    const kind = input.kind ?? (await introduce(input.url, keyOf(draft, parts)));
    if (tokenizer !== undefined && !takingTokens.has(kind))
      throw new WorkbenchError(
        "usage",
        `A tokenizer is of no use for ${input.id}: the server (${kind}) takes no prompts as token ids.`,
        `Leave --tokenizer out; or, if the server is another, say its kind: ${[...takingTokens].join(", ")}.`,
      );
    if (contextWindow !== undefined && kind !== "ollama")
      throw new WorkbenchError(
        "usage",
        `The window of ${input.id} is the server's own: only Ollama takes one with each call.`,
        "Leave --context-window out; the server is asked for its own.",
      );
    if (input.spendingLimit !== undefined && input.prices === undefined)
      throw new WorkbenchError(
        "usage",
        `A spending limit for ${input.id} wants prices to count by.`,
        "Give --price-input and --price-output, for a million tokens each.",
      );
    return parseDefinition({
      ...common,
      kind,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(tokenizer === undefined ? {} : { tokenizer: resolvePath(tokenizer) }),
    });
  }

  return {
    list: () => [describe(builtIn, "ids+logprobs", true), ...saved().map(entry), ...imported()],
    async add({ replace, ...input }) {
      if (input.id === builtInId || input.id.startsWith("scripted:"))
        throw new WorkbenchError("usage", `"${input.id}" is the name of the policy that ships.`, "Choose another id.");
      if (find(input.id) !== null && replace !== true)
        throw new WorkbenchError(
          "usage",
          `There is a policy "${input.id}" already.`,
          "Choose another id, or remove that one first (on the command line: --replace).",
        );
      const definition = await fromInput(input);
      if ("tokenizer" in definition && definition.tokenizer !== undefined) await loadPolicyText(definition.tokenizer);
      const added: Saved = { definition, capture: null };
      save([...saved().filter((each) => each.definition.id !== definition.id), added]);
      return entry(added);
    },
    remove(id) {
      if (isEmbedded(id))
        throw new WorkbenchError(
          "usage",
          `${id} is a model folder, not a saved endpoint.`,
          "Delete its folder to be rid of it; see `openforge policy list`.",
        );
      if (find(id) === null) throw new WorkbenchError("not-found", `There is no saved policy "${id}".`, "See `openforge policy list`.");
      save(saved().filter((each) => each.definition.id !== id));
      ledger.forget(id);
    },
    async probe(id) {
      const { definition, upstream } = await open(id);
      try {
        const probed = await probeUpstream(upstream);
        const { capture } = probed;
        const isSaved = find(id) !== null;
        if (isSaved) save(saved().map((each) => (each.definition.id === id ? { ...each, capture } : each)));
        return { policy: describe(definition, capture, id === builtInId), capture, lost: lostAt(probed, upstream) };
      } finally {
        await upstream.close();
      }
    },
    resolve: async (name) => (await open(name)).upstream,
    async tokenizerFolder(name) {
      const definition = await definitionOf(name);
      if (definition.kind === "embedded") return definition.folder;
      const named = "tokenizer" in definition ? definition.tokenizer : undefined;
      return named ?? (definition.kind === "scripted" ? shippedTokenizer(policiesFolder) : null);
    },
    close: () => adapters.close(),
    pin: async (name) => (isTraining(name) ? (await trainingPolicy(name, options.trainingFolder)).name : name),
  };
}

/** An address is written down wherever the policy is; a key in it would be too. */
function refuseKeyInAddress(address: string): void {
  if (!URL.canParse(address)) return;
  const url = new URL(address);
  if (url.username === "" && url.password === "" && url.search === "") return;
  throw new WorkbenchError(
    "usage",
    `The address of a policy has no user, password or query, and this one (at ${url.host}) has.`,
    "Leave them out; name the environment variable that holds the key with --key-variable.",
  );
}

function parseDefinition(fields: object): ServerDefinition {
  const parsed = upstreamDefinitionSchema.safeParse(fields);
  if (!parsed.success || !("url" in parsed.data))
    throw new WorkbenchError(
      "usage",
      `The policy is not complete: ${parsed.success ? "it has no address" : firstIssue(parsed.error)}.`,
      "See `openforge policy add --help`.",
    );
  return parsed.data;
}

/** Kinds of servers that take prompts as ids. */
const takingTokens: ReadonlySet<string> = new Set<TokenServerDefinition["kind"]>(["vllm", "sglang", "llama.cpp"]);

function withoutUndefined<T extends object>(input: T): T {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T;
}

function takesTokenIds(definition: UpstreamDefinition): boolean {
  return definition.kind === "scripted" || definition.kind === "embedded" || ("tokenizer" in definition && definition.tokenizer !== undefined);
}

function addressOf(definition: UpstreamDefinition): string {
  if (definition.kind === "scripted") return definition.file;
  return definition.kind === "embedded" ? definition.folder : definition.url;
}

/** `http://127.0.0.1:8000/v1` → `127.0.0.1-8000`. */
function urlId(url: string): string {
  const { hostname, port } = new URL(url);
  return [hostname, port].filter((part) => part !== "").join("-");
}
