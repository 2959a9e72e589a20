/** What stored rollouts say about behaviour: measures of one, of an experiment, and side by side. */
export { type AnalysedRollout, measureExperiment, measureRollout } from "./measure-experiment.ts";
