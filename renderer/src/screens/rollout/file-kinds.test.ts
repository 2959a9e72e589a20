import { describe, expect, it } from "vitest";
import { fileKind, folderOf, looksBinary } from "./file-kinds.ts";

describe("stored files", () => {
  it("are shown by their endings; what has none is a text", () => {
    expect(fileKind("artifacts/plot.PNG")).toEqual({ kind: "image", mediaType: "image/png" });
    expect(fileKind("artifacts/new.db")).toEqual({ kind: "bytes" });
    expect(fileKind("Makefile")).toEqual({ kind: "text" });
  });

  it("are known to be no text by what is in them", () => {
    expect(looksBinary("a\u0000b")).toBe(true);
    expect(looksBinary("\ufffd\ufffdPK")).toBe(true);
    expect(looksBinary("naïve — 日本語\n")).toBe(false);
    expect(looksBinary("")).toBe(false);
  });

  it("stand under their folder", () => {
    expect(folderOf("steps/one/artifacts/report.json")).toBe("steps/one/artifacts");
    expect(folderOf("stdout.txt")).toBe("");
  });
});
