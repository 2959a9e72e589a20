/** Rewards of a task of several steps, by Harbor's rules. */
type Rewards = Readonly<Record<string, number>>;

/**
 * `final`: those of the last step that was run, or null when it got none. `mean`: by name over the steps that got rewards; a name that
 * a step lacks counts 0 there, and a step without rewards takes no part. `rewards`: of the steps that were run, in order.
 */
export function rewardsOfSteps(strategy: "mean" | "final", rewards: readonly (Rewards | null)[]): Rewards | null {
  if (strategy === "final") return rewards.at(-1) ?? null;
  const given = rewards.filter((entry) => entry !== null);
  const names = [...new Set(given.flatMap((entry) => Object.keys(entry)))];
  if (names.length === 0) return null;
  return Object.fromEntries(names.map((name) => [name, given.reduce((sum, entry) => sum + (entry[name] ?? 0), 0) / given.length]));
}

/** The first reward that does not reach what it must for the next step to begin, as a phrase; null when all do. */
export function shortfall(minimum: Rewards | null, rewards: Rewards | null): string | null {
  for (const [name, wanted] of Object.entries(minimum ?? {})) {
    const got = rewards?.[name];
    const named = name === "reward" ? name : `reward ${name}`;
    if (got === undefined) return `it gave no ${named}, which must reach ${wanted}`;
    if (got < wanted) return `its ${named} is ${got}, which must reach ${wanted}`;
  }
  return null;
}
