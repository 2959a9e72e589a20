/** Stored files and the steps of a task of several steps, invented. */
import type { StepView } from "../../../main/api/grade-views.ts";
import type { ArtifactView } from "../../../main/api/rollout-views.ts";
import { harnessLog, picture, verifierText } from "./sample-call.ts";

const texts: Readonly<Record<string, string>> = {
  verifier: verifierText,
  log: harnessLog(400),
  empty: "",
  report: '{"recovered":311,"expected":1204,"tables":["orders"]}',
  csv: "id,total_cents\n".concat("1,1899\n2,4250\n".repeat(1600)),
};

/** The image and the database, by their hashes. */
export const storedBytes: Readonly<Record<string, Uint8Array>> = {
  plot: new TextEncoder().encode(picture),
  database: Uint8Array.of(0x53, 0x51, 0x4c, 0, 1, 2, 3, 255),
};

export const storedText = (hash: string): string => texts[hash] ?? "";

const file = (kind: ArtifactView["kind"], name: string, blob: string): ArtifactView => ({
  ...{ kind, name, blob, attempt: 0 },
  size: storedBytes[blob]?.length ?? storedText(blob).length,
});

export const sampleArtifacts: readonly ArtifactView[] = [
  file("verifier-output", "test-stdout.txt", "verifier"),
  file("harness-log", "stdout.txt", "log"),
  file("harness-log", "stderr.txt", "empty"),
  file("artifact", "artifacts/report.json", "report"),
  file("artifact", "artifacts/plots/rows.svg", "plot"),
  file("artifact", "artifacts/new.db", "database"),
  file("artifact", "artifacts/orders.csv", "csv"),
];

const step = (change: Partial<StepView> & Pick<StepView, "name">): StepView => ({
  ...{ status: "succeeded", cause: null, detail: null, reward: 1, rewards: { reward: 1 }, minReward: null },
  ...{ firstCall: 0, calls: 3, startedAt: 1, agentSeconds: 42, verifierSeconds: 1.2 },
  ...change,
});

export const sampleSteps: readonly StepView[] = [
  step({ name: "recover", minReward: { reward: 0.5 } }),
  step({
    ...{ name: "migrate", status: "failed", reward: 0.5, rewards: { rows: 0.5, schema: 1 }, minReward: { rows: 0.8 }, firstCall: 3, calls: 4 },
    detail: "rows reached 0.50 and 0.80 is wanted: the steps after it were not begun.",
  }),
  step({
    name: "report",
    status: null,
    reward: null,
    rewards: null,
    firstCall: 7,
    calls: 0,
    startedAt: null,
    agentSeconds: null,
    verifierSeconds: null,
  }),
];
