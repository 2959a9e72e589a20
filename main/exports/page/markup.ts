/** HTML by template: what is filled in is text and is escaped, unless it is markup itself. */

export class Markup {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

type Filling = Markup | readonly Markup[] | string | number | null;

export function html(strings: TemplateStringsArray, ...fillings: readonly Filling[]): Markup {
  return new Markup(strings.map((text, at) => (at === 0 ? text : fill(fillings[at - 1] ?? null) + text)).join(""));
}

function fill(filling: Filling): string {
  if (filling === null) return "";
  if (filling instanceof Markup) return filling.html;
  if (typeof filling === "object") return filling.map((part) => part.html).join("\n");
  return escaped(String(filling));
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
