/** The instruction without its canary: leading comment lines that mark benchmark data and are not for the agent. */
export function withoutCanary(text: string): string {
  const lines = text.split("\n");
  let first = 0;
  while (/^(?:<!--.*canary.*-->|#.*canary.*)$/i.test(lines[first]?.trim() ?? "")) first += 1;
  while (first < lines.length && lines[first]?.trim() === "") first += 1;
  return lines.slice(first).join("\n");
}
