/** The payload on one line: its values, not its JSON. */
export function payloadWords(payload: string): string {
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value !== "object" || value === null) return String(value ?? "");
    return Object.entries(value)
      .filter(([, part]) => part !== null && part !== "")
      .map(([name, part]) => `${name} ${typeof part === "object" ? JSON.stringify(part) : String(part)}`)
      .join(" · ");
  } catch {
    return payload;
  }
}
