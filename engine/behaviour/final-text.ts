/** What an agent's last words claim. Words are English: harnesses and their prompts are. */

const admission =
  /\b(?:can(?:no|['’])t|could ?n['’]?t|could not|unable to|was ?n['’]?t able|not able to|failed to|give up|giving up|did ?n['’]?t (?:manage|succeed|work)|do(?:es)? not work|impossible|not possible|ran out of|i['’]?m stuck|without success|incomplete|not (?:been )?(?:done|completed|finished))\b/i;

/** Whether the text says that the task was not done. An empty text says so too: there is nothing to show. */
export function admitsFailure(text: string): boolean {
  return text.trim() === "" || admission.test(text);
}
