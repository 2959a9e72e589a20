import { describe, expect, it } from "vitest";
import { exportFormats } from "../../../../main/api/export-views.ts";
import { defaultTarget, formats } from "./formats.ts";

describe("formats of exports", () => {
  it("offers each that the service writes, once", () => {
    expect(formats.map(({ value }) => value).sort()).toEqual([...exportFormats].sort());
  });

  it("names a file for one rollout and a folder for many", () => {
    const rollout = { id: "r-1", label: "", about: "", kind: "rollout" } as const;
    const experiment = { id: "e-1", label: "", about: "", kind: "experiment" } as const;
    expect(defaultTarget("/data", rollout, "atif")).toBe("/data/exports/r-1.json");
    expect(defaultTarget("/data", experiment, "atif")).toBe("/data/exports/e-1-atif");
    expect(defaultTarget("/data", experiment, "verl-rl")).toBe("/data/exports/e-1-rl.parquet");
  });
});
