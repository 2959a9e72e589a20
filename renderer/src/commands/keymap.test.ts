import { describe, expect, it } from "vitest";
import { categories } from "./command.ts";
import { keyCaps, keyText, worksWhileTyping } from "./keymap.ts";
import { commands } from "./table.ts";

const press = (key: string, modifiers: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...modifiers,
});

describe("key text", () => {
  it("names presses as the table does", () => {
    expect(keyText(press("k", { ctrlKey: true }))).toBe("Mod+K");
    expect(keyText(press("k", { metaKey: true }))).toBe("Mod+K");
    expect(keyText(press("P", { ctrlKey: true, shiftKey: true }))).toBe("Mod+Shift+P");
    expect(keyText(press("G", { shiftKey: true }))).toBe("G");
    expect(keyText(press("?", { shiftKey: true }))).toBe("?");
    expect(keyText(press("F6", { shiftKey: true }))).toBe("Shift+F6");
    expect(keyText(press("Escape"))).toBe("Esc");
    expect(keyText(press("+", { ctrlKey: true }))).toBe("Mod++");
  });

  it("draws caps", () => {
    expect(keyCaps("Mod+K", false)).toEqual(["Ctrl", "K"]);
    expect(keyCaps("Mod+K", true)).toEqual(["⌘", "K"]);
    expect(keyCaps("Mod++", false)).toEqual(["Ctrl", "+"]);
    expect(keyCaps("Shift+Enter", false)).toEqual(["Shift", "↵"]);
  });

  it("leaves letters to the person who types", () => {
    expect(["j", "?", "G", "Esc", "Enter"].filter(worksWhileTyping)).toEqual([]);
    expect(["Mod+K", "Alt+N", "F6", "Shift+F6"].filter(worksWhileTyping)).toHaveLength(4);
  });
});

describe("the command table", () => {
  it("has one row an id, in sentence case", () => {
    expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
    for (const { title } of commands) expect(title).toMatch(/^[A-Z][^!]*$/);
  });

  it("gives a key to one command of a category, and global keys to one command at all", () => {
    const seen = new Map<string, string>();
    for (const command of commands) {
      for (const key of command.keys) {
        for (const scope of command.category === "Everywhere" ? categories : [command.category]) {
          const place = `${scope} ${key}`;
          expect(seen.get(place), place).toBeUndefined();
          seen.set(place, command.id);
        }
      }
    }
  });
});
