/**
 * Whether a tool's result says that the tool failed. Harnesses say it in their own words: an exit code on a line of its own, or an
 * error in place of the output. A result without such a mark is a success: harnesses mark failures. What a command printed is not
 * judged: a log may be full of errors.
 */

/** A line `Exit code: 1`, `exit=1`, `Exit code 1`, `Process exited with code 1`, `<returncode>1</returncode>`, `"exit_code": 1`. */
const exitCodeLine =
  /^(?:.*\s)?(?:exit(?:[ _]?(?:code|status))?\s*[:=]\s*|exit (?:code|status) |process exited with (?:exit )?code |command (?:failed|exited) with (?:exit )?(?:code|status) |<(?:returncode|exit_code)>)(-?\d+)\.?(?:<\/\w+>)?\s*$/gim;
const exitCodeField = /"(?:exit_?code|returncode)"\s*:\s*(-?\d+)/gi;
/** At the very start: `exit=1 output`, `Observation (exit 2): output`; a code of 0 may be left out there. */
const startMark = /^\s*(?:exit=(?<code>\d+|unknown)(?=\s|$)|observation(?: \(exit (?<told>\d+|unknown)\))?:)/i;
/** At the very end only: `[exit 2]`, `[stopped after 120 s]`. */
const endMark = /(?:^|\n)\[(?:exit (?<code>\d+|unknown)|(?:stopped|killed|timed out)\b[^\]\n]*)\]\s*$/i;
/** Where the output would begin. */
const errorInstead =
  /^\s*(?:<?(?:tool_use_)?error\b|\{\s*"(?:error|is_error)"\s*:\s*(?!null|false|""|0)|the tool failed\b|the arguments are not valid\b|there is no tool\b|(?:unknown|invalid) tool\b|.{0,80}\bwas not run\b)/i;

/** `marked`: what the dialect itself says (`is_error` of Messages); null when it says nothing. Of several exit codes the last counts. */
export function toolFailed(result: string | null, marked: boolean | null): boolean | null {
  if (marked === true) return true;
  if (result === null) return marked;
  const start = startMark.exec(result)?.groups;
  if (start !== undefined) return (start.code ?? start.told ?? "0") !== "0";
  const end = endMark.exec(result);
  if (end !== null) return end.groups?.code !== "0";
  const codes = [exitCodeLine, exitCodeField].flatMap((pattern) => [...result.matchAll(pattern)]);
  const last = codes.toSorted((left, right) => left.index - right.index).at(-1);
  if (last !== undefined) return last[1] !== "0";
  return errorInstead.test(result);
}
