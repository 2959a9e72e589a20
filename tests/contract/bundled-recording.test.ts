/** The recording that ships tells the story that the first screen promises. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCall } from "../../main/proxy/index.ts";
import { importRecording, openStore } from "../../main/store/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";

test("twelve calls, a cut tool result at the ninth, no reward", () => {
  const folder = mkdtempSync(join(tmpdir(), "recording-"));
  const store = openStore(folder);
  try {
    const id = importRecording(store, join(import.meta.dirname, "../../resources/recordings/cut-tool-result.openforge"));
    const [rollout] = store.rolloutsOf(id);
    expect(rollout).toMatchObject({ harness: "react", outcome: { status: "failed" }, reward: 0, calls: 12, chains: 1 });
    const calls = store.callsOf(rollout?.id ?? "");
    expect(calls.map((call) => [call.status, call.capture])).toEqual(Array.from({ length: 12 }, () => ["ok", "ids+logprobs"]));
    const ninth = calls[8];
    if (ninth === undefined) throw new Error("there is no ninth call");
    const last = readCall(store, ninth).conversation?.messages.at(-1);
    expect(last?.role).toBe("tool");
    expect(JSON.stringify(last)).toMatch(/\[\d+ of \d+ characters cut\]/);
    const trajectories = rebuildTrajectories(store, rollout?.id ?? "");
    expect(trajectories.chains.map((chain) => chain.calls)).toEqual([Array.from({ length: 12 }, (_, index) => index)]);
    expect(trajectories.trainedTokens).toBe(store.nodesOf(rollout?.id ?? "").reduce((sum, node) => sum + node.sampledIds.length, 0));
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
