import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../store/index.ts";
import { sampleExperiment, sampleRollout } from "../store/records/sample-records.ts";
import { createExperimentList } from "./experiment-list.ts";

let folder = "";
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "experiment-list-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const succeeded = { status: "succeeded", cause: null, action: "train", detail: null } as const;

describe("the list of experiments", () => {
  it("sums up what has changed, and nothing else", () => {
    for (const id of ["e1", "e2"]) {
      store.createExperiment(sampleExperiment(id));
      store.createRollouts([sampleRollout(`${id}-a`, id, { phase: "queued" }), sampleRollout(`${id}-b`, id, { phase: "running" })]);
    }
    const summed: string[] = [];
    const experimentSummary: Store["experimentSummary"] = (id) => {
      summed.push(id);
      return store.experimentSummary(id);
    };
    const list = createExperimentList({ experiments: store.experiments, rolloutMark: store.rolloutMark, experimentSummary });
    expect(list.all().map(({ total, outcomes }) => [total, outcomes])).toEqual([
      [2, { queued: 1, running: 1 }],
      [2, { queued: 1, running: 1 }],
    ]);
    store.updateRollout("e2-b", { phase: "ended", outcome: succeeded, reward: 1 });
    summed.length = 0;
    expect(list.all().find(({ id }) => id === "e2")).toMatchObject({ ended: 1, outcomes: { succeeded: 1, queued: 1 }, reward: { n: 1, mean: 1 } });
    expect(summed).toEqual(["e2"]);
    store.deleteExperiment("e2");
    expect(list.all().map(({ id }) => id)).toEqual(["e1"]);
  });

  it("counts a session that ended ungraded as ended, not as running", () => {
    store.createExperiment(sampleExperiment("e1", { kind: "attach" }));
    store.createRollouts([sampleRollout("s1", "e1", { phase: "ended" }), sampleRollout("s2", "e1", { phase: "running" })]);
    expect(createExperimentList(store).all()[0]).toMatchObject({ kind: "attach", ended: 1, outcomes: { running: 1 } });
  });
});
