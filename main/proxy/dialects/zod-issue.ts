import type { z } from "zod";

/** The first thing wrong, as one phrase with its place: `messages.2.role: expected string`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "it does not have the right shape";
  const place = issue.path.map(String).join(".");
  const problem = issue.message.replace(/^Invalid input: /, "");
  return place === "" ? problem : `${place}: ${problem}`;
}
