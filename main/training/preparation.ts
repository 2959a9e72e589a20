/** Everything that a run file names must be there before anything is started; what is not is told with the key that names it. */
import { WorkbenchError } from "../errors.ts";
import type { HarnessRegistry } from "../harnesses/index.ts";
import type { PolicyRegistry } from "../proxy/index.ts";
import type { Store } from "../store/index.ts";
import { type BasePlaces, baseModel } from "./base-model.ts";
import type { RunSettings } from "./run-file.ts";
import { checkTaskSources } from "./task-set.ts";

export interface PreparationParts {
  readonly store: Pick<Store, "experiment">;
  readonly harnesses: Pick<HarnessRegistry, "get">;
  readonly policies: Pick<PolicyRegistry, "list" | "resolve" | "tokenizerFolder">;
  readonly starterTasksFolder: string;
  readonly places: BasePlaces;
}

export type Preparation =
  | { readonly ok: true; readonly modelFolder: string }
  /** `key`: the one of the run file that is at fault. */
  | { readonly ok: false; readonly key: string; readonly error: WorkbenchError };

export async function prepareRun(settings: RunSettings, parts: PreparationParts): Promise<Preparation> {
  const named: readonly (readonly [key: string, check: () => unknown])[] = [
    ["harnesses", () => checkHarnesses(settings, parts)],
    ["tasks", () => checkTaskSources(settings.tasks, parts.starterTasksFolder)],
    ["vllm", () => checkSampler(settings, parts)],
    ...settings.stages.flatMap((stage) => {
      if (stage.kind !== "sft") return [];
      const { policy, experiments = [] } = stage.teacher;
      return [["policy", () => checkTeacher(policy, parts)] as const, ["experiments", () => checkExperiments(experiments, parts)] as const];
    }),
  ];
  let key = "base";
  try {
    for (const [each, check] of named) {
      key = each;
      await check();
    }
    key = "base";
    return { ok: true, modelFolder: await baseModel(settings.base, parts.places) };
  } catch (error) {
    if (error instanceof WorkbenchError) return { ok: false, key, error };
    throw error;
  }
}

async function checkHarnesses({ harnesses, evaluation }: RunSettings, parts: PreparationParts): Promise<void> {
  for (const id of new Set([...harnesses.map((harness) => harness.id), ...(evaluation.harnesses ?? [])])) await parts.harnesses.get(id);
}

function checkSampler({ sampler }: RunSettings, { policies }: PreparationParts): void {
  if (sampler === "embedded") return;
  const kind = policies.list().find(({ definition }) => definition.id === sampler.vllm)?.definition.kind;
  if (kind === "vllm") return;
  if (kind === undefined) {
    const remedy = `Save the server that shall sample: openforge policy add ${sampler.vllm} URL --kind vllm.`;
    throw new WorkbenchError("usage", `There is no saved policy "${sampler.vllm}".`, remedy);
  }
  throw new WorkbenchError("usage", `The policy "${sampler.vllm}" is ${kind}, not vllm.`, "Name one that was saved with --kind vllm.");
}

/** That it has a meaning, not that it answers. */
async function checkTeacher(policy: string | undefined, { policies }: PreparationParts): Promise<void> {
  if (policy === undefined) return;
  if (policy.startsWith("scripted:")) await (await policies.resolve(policy)).close();
  else await policies.tokenizerFolder(policy);
}

function checkExperiments(ids: readonly string[], { store }: PreparationParts): void {
  const missing = ids.find((id) => store.experiment(id) === null);
  if (missing !== undefined) throw new WorkbenchError("not-found", `There is no experiment ${missing}.`, "See `openforge runs list`.");
}
