import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

/** The engine must run in a browser worker: a Node built-in anywhere in it fails here. */
test("the engine bundles for a browser worker", async () => {
  const folders = readdirSync("engine", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const faces = folders.map((folder) => join("engine", folder.name, "index.ts")).filter((face) => existsSync(face));
  const input = Object.fromEntries(faces.map((face, index) => [`part${index}`, face]));
  const bundle = await rolldown({ input, platform: "browser", tsconfig: false, logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const outside = output.flatMap((chunk) =>
    chunk.type === "chunk" ? chunk.imports.filter((name) => !output.some((other) => other.fileName === name)) : [],
  );
  expect(outside).toEqual([]);
});
