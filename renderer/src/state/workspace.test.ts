import { describe, expect, it } from "vitest";
import { rolloutPlace } from "./places.ts";
import { type Tab, tabsWith } from "./workspace.ts";

const runs: Tab = { key: "runs", place: { kind: "screen", screen: "runs" }, preview: false, title: null };
const keys = (tabs: readonly Tab[]): string[] => tabs.map((tab) => `${tab.key}${tab.preview ? "?" : ""}`);

describe("tabs", () => {
  it("replace the preview by the next one, in its place", () => {
    const one = tabsWith([runs], rolloutPlace("a"), { preview: true });
    const two = tabsWith([...one, { ...runs, key: "tasks" }], rolloutPlace("b"), { preview: true });
    expect(keys(two)).toEqual(["runs", "run/b?", "tasks"]);
  });

  it("keep what was opened to stay, also when it is previewed again", () => {
    const kept = tabsWith([runs], rolloutPlace("a"));
    expect(keys(tabsWith(kept, rolloutPlace("a", { call: 3 }), { preview: true }))).toEqual(["runs", "run/a"]);
    expect(tabsWith(kept, rolloutPlace("a", { call: 3 })).at(-1)?.place).toMatchObject({ call: 3 });
  });

  it("make a preview stay when it is opened", () => {
    const preview = tabsWith([runs], rolloutPlace("a"), { preview: true, title: "a · t" });
    expect(tabsWith(preview, rolloutPlace("a")).at(-1)).toMatchObject({ preview: false, title: "a · t" });
  });
});
