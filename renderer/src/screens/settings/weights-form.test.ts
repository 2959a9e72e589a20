import { expect, test } from "vitest";
import { weightsInput, weightsMistakes } from "./weights-form.ts";

test("a whole path is wanted, and a name of letters for a file", () => {
  expect(weightsMistakes({ path: "models/a.gguf", name: "" })).toHaveProperty("path");
  expect(weightsMistakes({ path: "", name: "" })).toHaveProperty("path");
  expect(weightsMistakes({ path: "/m/a.gguf", name: "a/b" })).toHaveProperty("name");
  expect(weightsMistakes({ path: " /m/a.GGUF ", name: "q.4-b_1" })).toEqual({});
  expect(weightsMistakes({ path: "C:\\models\\hf", name: "left over / from a file" })).toEqual({});
});

test("a folder keeps its path: the name of a file that was typed before is not sent", () => {
  expect(weightsInput({ path: " /m/a.gguf ", name: " b " })).toEqual({ path: "/m/a.gguf", name: "b" });
  expect(weightsInput({ path: "/m/a.gguf", name: " " })).toEqual({ path: "/m/a.gguf" });
  expect(weightsInput({ path: "/m/hf", name: "b" })).toEqual({ path: "/m/hf" });
});
