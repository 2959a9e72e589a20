/** Policy endpoints by id: the built-in scripted one, those that a person added, and what a URL or a rule file names on the fly. */
import type { CaptureLevel } from "../../engine/conversation/index.ts";
import type { Store } from "../store/index.ts";
import type { EmbeddedParts } from "./create-upstream.ts";
import type { ServerDefinition, UpstreamDefinition } from "./upstreams/definition.ts";
import type { Spending } from "./upstreams/spending.ts";
import type { Upstream } from "./upstreams/upstream.ts";

export interface PolicyEntry {
  readonly definition: UpstreamDefinition;
  /** URL, the rule file, or the model's folder. */
  readonly address: string;
  /** As last probed; null = never. */
  readonly capture: CaptureLevel | null;
  readonly takesTokenIds: boolean;
  readonly builtIn: boolean;
  /** null = it has no prices. */
  readonly spending: Spending | null;
}

interface PolicyProbe {
  readonly policy: PolicyEntry;
  readonly capture: CaptureLevel;
  /** What cannot be done at this level, one sentence each. */
  readonly lost: readonly string[];
}

/** What `policy add` and the settings form send. */
export interface PolicyInput {
  readonly id: string;
  readonly url: string;
  readonly kind?: ServerDefinition["kind"] | undefined;
  readonly model?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly tokenizer?: string | undefined;
  /** Ollama only. */
  readonly contextWindow?: number | undefined;
  readonly prices?: { readonly input: number; readonly output: number; readonly cachedInput?: number | undefined } | undefined;
  readonly spendingLimit?: number | undefined;
  /** Takes the place of a policy of this id; without it, one that is there is an error. */
  readonly replace?: boolean | undefined;
}

export interface PolicyRegistry {
  /** The built-in policy, saved endpoints and imported models. */
  list(): readonly PolicyEntry[];
  /** Saves the endpoint; without a kind the server is asked. */
  add(input: PolicyInput): Promise<PolicyEntry>;
  remove(id: string): void;
  /** One small call that tells the capture level. */
  probe(id: string): Promise<PolicyProbe>;
  /**
   * `scripted`, `scripted:FILE`, `embedded:FOLDER` (or the name of an imported model), `training:RUN@STEP`, a URL or a saved id. The
   * caller closes it; a step's weights are loaded for the first who holds them and dropped after the last.
   */
  resolve(name: string): Promise<Upstream>;
  /** Tokenizer and chat template that the policy's ids belong to, without starting it; null where there is none here. */
  tokenizerFolder(name: string): Promise<string | null>;
  /** The name with what moves made fast: `training:RUN@last` becomes `training:RUN@7`. Others stay as they are. */
  pin(name: string): Promise<string>;
  /** Takes adapters out of the servers that they were loaded into. */
  close(): Promise<void>;
}

export interface PolicyRegistryOptions {
  readonly store: Store;
  /** Folder `policies` of the product's resources: `scripted.yaml` and `tokenizer/`. */
  readonly policiesFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Holds a folder for each training run; absent = `training:` is not offered. */
  readonly trainingFolder?: string;
  /** Absent = embedded policies are not offered. */
  readonly embedded?: EmbeddedParts;
}
