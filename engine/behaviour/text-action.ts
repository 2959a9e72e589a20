/** Harnesses without tool calls: the policy writes the command in its text, and the result comes back as a user's message. */

const actionLine = /^[ \t]*Action:[ \t]*(\S.*)$/m;
const fencedCommand = /```\w*bash\w*\n([\s\S]*?)\n?```/;

/** The command that an answer's text asks to run; null when it asks for none. */
export function textAction(text: string): string | null {
  return actionLine.exec(text)?.[1]?.trim() ?? fencedCommand.exec(text)?.[1] ?? null;
}

/** Whether a user's message is what a command printed, and no person's word. */
export function isObservation(text: string): boolean {
  return /^\s*(?:Observation\b|<returncode>|<output>)/.test(text);
}
