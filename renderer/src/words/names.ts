/** Names as a narrow column shows them; the whole name is in the tooltip. Pure. */
import type { RolloutView } from "../service/views.ts";

/** Ids are `r-` and eight hex digits: the first four tell the rollouts of a screen apart. */
export const shortId = (id: string): string => (/^[a-z]-[0-9a-f]{8,}$/.test(id) ? id.slice(0, 6) : id.length > 12 ? `${id.slice(0, 11)}…` : id);

/** A task without the organisation before its slash. */
export const taskWords = (name: string): string => name.slice(name.lastIndexOf("/") + 1) || name;

/** A policy that is a file is named by the file, not by the folders above it; a step of a training run by its run. */
export function policyWords(policy: string): string {
  if (/^training:t-\w+/.test(policy)) return policy.slice("training:".length);
  const match = /^([a-z]+):(.*[/\\])([^/\\]+)$/.exec(policy);
  return match === null || policy.startsWith("http") ? policy.replace(/^https?:\/\//, "") : `${match[1]}:${match[3]}`;
}

/** The title of a rollout's tab. */
export const rolloutTitle = (rollout: Pick<RolloutView, "id" | "task">): string => `${shortId(rollout.id)} · ${taskWords(rollout.task)}`;

/** The route as the harness sees it: without the part that names its rollout. */
export const routeWords = (path: string): string => path.replace(/^\/r\/[^/]+(?=\/)/, "");

/** A session of a program outside any sandbox: a person grades it, and corrects what was said. */
export const isSession = ({ labels }: Pick<RolloutView, "labels">): boolean => labels.purpose === "attach";
