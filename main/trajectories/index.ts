export * from "./contract.ts";
// Functions of this face: rebuildTrajectories(store, rolloutId, { attempt?, tokenizer? }): Trajectories ·
// trajectoryTotals(trajectories): TrajectoryTotals · tokenSpans(trajectories, chain, tokenizer | null): TokenSpan[].
