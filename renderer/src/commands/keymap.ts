/**
 * Keys as text: "Mod+K" (Ctrl, on a Mac Command), "Shift+F6", "j", "G", "?". Shift is not named where the character already
 * says it. Pure: events come in as plain values.
 */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const named: Readonly<Record<string, string>> = {
  " ": "Space",
  Escape: "Esc",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
};

/** The text of a key press, as the command table writes it. */
export function keyText(press: KeyPress): string {
  const isCharacter = press.key.length === 1 && press.key !== " ";
  const modified = press.ctrlKey || press.metaKey || press.altKey;
  const key = isCharacter && modified ? press.key.toUpperCase() : (named[press.key] ?? press.key);
  const parts = [
    press.ctrlKey || press.metaKey ? "Mod" : "",
    press.altKey ? "Alt" : "",
    press.shiftKey && (!isCharacter || modified) ? "Shift" : "",
    key,
  ];
  return parts.filter((part) => part !== "").join("+");
}

/** Keys of one letter, and those without Ctrl or Alt that a text field uses itself, do nothing while a person types. */
export function worksWhileTyping(key: string): boolean {
  return key.includes("Mod+") || key.includes("Alt+") || /^(Shift\+)?F\d+$/.test(key);
}

const spoken: Readonly<Record<string, string>> = { Enter: "↵", Up: "↑", Down: "↓", Left: "←", Right: "→" };

/** The caps to draw: "Mod+K" is ["Ctrl", "K"], on a Mac ["⌘", "K"]. */
export function keyCaps(key: string, isMac: boolean): readonly string[] {
  return key.split(/\+(?=.)/).map((part) => (part === "Mod" ? (isMac ? "⌘" : "Ctrl") : part === "Alt" && isMac ? "⌥" : (spoken[part] ?? part)));
}
