import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readCall } from "../../main/proxy/index.ts";
import { importRecording, openStore } from "../../main/store/index.ts";
import { cutCall, recordedPrompts, recordingKilobytes } from "../../renderer/src/screens/first-run/recording.ts";

const file = join(import.meta.dirname, "../../resources/recordings/cut-tool-result.openforge");

it("the first-run screen says of the bundled recording what is true of it", () => {
  const folder = mkdtempSync(join(tmpdir(), "openforge-card-"));
  const store = openStore(folder);
  try {
    const [rollout] = store.rolloutsOf(importRecording(store, file));
    const calls = store.callsOf(rollout?.id ?? "");
    expect(calls.map((call) => call.promptTokens)).toEqual([...recordedPrompts]);
    const cut = calls[cutCall - 1];
    const messages = cut === undefined ? [] : (readCall(store, cut).conversation?.messages ?? []);
    expect(JSON.stringify(messages.at(-1))).toMatch(/characters cut/);
    expect(Math.round(statSync(file).size / 1000)).toBe(recordingKilobytes);
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
