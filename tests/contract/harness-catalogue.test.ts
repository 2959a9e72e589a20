/** What the catalogue tells of a harness: its manifest's facts, and what was seen when it was last run here. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRouterClient } from "@orpc/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRouter } from "../../main/api/index.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { sandboxProviders } from "../../main/sandboxes/index.ts";

const { ready } = await sandboxProviders({ stateFolder: join(tmpdir(), "catalogue-probe") }).local.probe();
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "catalogue-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

test("what a harness is, needs and lacks comes from its manifest", async () => {
  const { harnesses } = createRouterClient(createRouter(workbench), { context: {} });
  const byId = new Map((await harnesses.list()).map((view) => [view.id, view]));
  expect(byId.get("zeroclaw")).toMatchObject({
    version: "0.8.7",
    install: "cargo",
    needs: { runtime: "native", toInstall: ["cargo", "cc"], display: false },
    mcp: ["stdio", "sse", "streamable-http"],
    skills: true,
    prefix: "exact",
  });
  expect(byId.get("mini-swe-agent")).toMatchObject({ mcp: [], skills: false, needs: { runtime: "python", runtimeVersion: "3.11" } });
  for (const view of byId.values()) {
    expect(view, view.id).toMatchObject({ fault: null, licence: expect.stringMatching(/./) });
    // What it has not is explained.
    if (view.mcp.length === 0) expect(view.lacks.mcp, view.id).toBeDefined();
    if (!view.skills) expect(view.lacks.skills, view.id).toBeDefined();
  }
});

test.skipIf(!ready)("a probe is kept with where, when and how it went; one of an earlier form is still read", async () => {
  workbench.store.setSetting("harness-probe:react", JSON.stringify({ at: 1, ok: true, detail: "1 chat call arrived.", capture: "ids" }));
  const { harnesses } = createRouterClient(createRouter(workbench), { context: {} });
  const last = async () => (await harnesses.list()).find(({ id }) => id === "react")?.lastProbe;
  expect(await last()).toMatchObject({ at: 1, ok: true, machine: null, extends: null });

  for await (const _line of await harnesses.probe({ id: "react", sandbox: "local" }));
  const probe = await last();
  expect(probe).toMatchObject({ ok: true, capture: "ids+logprobs", sandbox: "local", extends: true, machine: expect.stringMatching(/\(linux /) });
  expect(probe?.detail).toBe("2 chat calls arrived at /v1/chat/completions.");
  expect(Date.now() - (probe?.at ?? 0)).toBeLessThan(60_000);
  expect(workbench.store.experiments()).toEqual([]);
});
