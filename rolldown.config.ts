import { defineConfig } from "rolldown";

const native = [/^better-sqlite3/, /^onnxruntime-node/, /^cpu-features/, /^ssh2/, /\.node$/, "electron"];

/** Service and command line as ES modules for plain Node; the shell as CommonJS, which every Electron can load. */
export default defineConfig([
  {
    input: {
      cli: "main/cli.ts",
      "store-worker": "main/store/background/worker.ts",
      "sampler-process": "main/sampler/sampler-process.ts",
      "importer-process": "main/models/importer-process.ts",
      "trainer-process": "main/training/embedded/trainer-process.ts",
      "launcher-process": "main/sandboxes/local/launcher-process.mjs",
    },
    platform: "node",
    external: native,
    tsconfig: false,
    output: { dir: "dist/main", format: "esm", cleanDir: true },
  },
  {
    input: { main: "electron/main.ts", preload: "electron/preload.ts" },
    platform: "node",
    external: native,
    tsconfig: false,
    output: { dir: "dist/electron", format: "cjs", entryFileNames: "[name].cjs", cleanDir: true },
  },
]);
