/** Indented JSON in which a list of numbers takes one line: token ids would take thousands. */
export function readableJson(value: unknown, indent: number): string {
  const text = JSON.stringify(value, null, indent);
  // Numbers stand on lines of their own only inside a list of numbers; inside a text a line end is written \n.
  return `${text.replaceAll(/\[\n\s+(-?\d[^[\]{}":]*?)\n\s*\]/g, (_list, numbers: string) => `[${numbers.replaceAll(/,\s+/g, ", ")}]`)}\n`;
}
