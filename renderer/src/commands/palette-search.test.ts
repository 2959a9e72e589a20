import { describe, expect, it } from "vitest";
import { coveredRanges, ranked } from "./palette-search.ts";

const items = [
  { title: "Show tasks", about: "" },
  { title: "sqlite-wal-recover", about: "codex, reward 0.00" },
  { title: "Task of the day", about: "" },
];

describe("palette", () => {
  it("wants every word and prefers starts", () => {
    expect(ranked(items, "task", 9).map((item) => item.title)).toEqual(["Task of the day", "Show tasks"]);
    expect(ranked(items, "wal codex", 9).map((item) => item.title)).toEqual(["sqlite-wal-recover"]);
    expect(ranked(items, "wal nothing", 9)).toEqual([]);
    expect(ranked(items, "", 2)).toHaveLength(2);
  });

  it("covers what it found, merged", () => {
    expect(coveredRanges("Fork from this call", "fork or")).toEqual([[0, 4]]);
    expect(coveredRanges("sqlite-wal", "wal sql")).toEqual([
      [0, 3],
      [7, 10],
    ]);
  });
});
