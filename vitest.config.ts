import { defineConfig } from "vitest/config";

/** `unit` = beside the source, no build, no network, no container. The rest lives in tests/ and may need the built product. */
export default defineConfig({
  test: {
    reporters: ["default", "./tests/house/closing-line.ts"],
    projects: [
      { test: { name: "unit", include: ["{main,engine,electron,renderer,tests/house,tests/studies}/**/*.test.ts"], testTimeout: 20_000 } },
      {
        test: {
          name: "contract",
          include: ["tests/contract/**/*.test.ts", "tests/conformance/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "end-to-end",
          include: ["tests/end-to-end/**/*.test.ts"],
          globalSetup: ["tests/house/build-once.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
