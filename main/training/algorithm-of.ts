/** The algorithm of a stage: a named one with what the run file sets otherwise. */
import { type Algorithm, namedAlgorithms } from "../../engine/training/index.ts";
import type { RlStage } from "./run-file.ts";

export function algorithmOf(stage: RlStage): Algorithm {
  const named: Algorithm = namedAlgorithms[stage.algorithm];
  const { overrides } = stage;
  return {
    ...named,
    advantage: advantageOf(named.advantage, overrides),
    loss: overrides.clip === undefined || named.loss.kind === "reinforce" ? named.loss : { ...named.loss, ...overrides.clip },
    aggregation: overrides.aggregation ?? named.aggregation,
    divergence: divergenceOf(named.divergence, overrides),
    entropyCoefficient: overrides.entropy ?? named.entropyCoefficient,
    correction: correctionOf(named.correction, overrides.importance),
    overlong: overrides.overlong ?? named.overlong,
    flatGroups: flatGroupsOf(stage) === "keep" ? "keep" : "drop",
  };
}

/** DAPO's dynamic sampling is to try other tasks. */
export function flatGroupsOf(stage: RlStage): "keep" | "drop" | "refill" {
  return stage.flatGroups ?? (stage.algorithm === "dapo" ? "refill" : namedAlgorithms[stage.algorithm].flatGroups);
}

type Overrides = RlStage["overrides"];

function advantageOf(named: Algorithm["advantage"], { divideByDeviation, gamma, lambda }: Overrides): Algorithm["advantage"] {
  switch (named.kind) {
    case "group":
      return divideByDeviation === undefined ? named : { ...named, divideByDeviation };
    case "value-head":
      return { ...named, gamma: gamma ?? named.gamma, lambda: lambda ?? named.lambda };
    case "whitened-returns":
      return { ...named, gamma: gamma ?? named.gamma };
    case "leave-one-out":
    case "length-weighted":
    case "whitened-group":
      return named;
  }
}

function divergenceOf(named: Algorithm["divergence"], { divergence, divergenceTarget }: Overrides): Algorithm["divergence"] {
  const coefficient = divergence ?? named?.coefficient ?? 0;
  if (coefficient === 0) return null;
  const adaptive = divergenceTarget ?? named?.adaptive ?? null;
  return { ...(named ?? { place: "loss", estimator: "k3" }), coefficient, adaptive };
}

function correctionOf(named: Algorithm["correction"], importance: number | undefined): Algorithm["correction"] {
  if (importance === undefined) return named;
  if (importance === 0) return { ...named, importance: null };
  return { ...named, importance: { level: "token", form: "truncate", normalise: false, ...named.importance, high: importance } };
}
