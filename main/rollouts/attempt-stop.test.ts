import { afterEach, expect, test, vi } from "vitest";
import type { OutcomeCause, RolloutPhase } from "../../engine/outcome/index.ts";
import { WorkbenchError } from "../errors.ts";
import { GuardTimeout, stopOf } from "./attempt-stop.ts";
import { requireFreeDisk } from "./free-disk.ts";
import { PhaseTimeout } from "./phases.ts";

afterEach(() => vi.restoreAllMocks());

const failing = (code: ConstructorParameters<typeof WorkbenchError>[0], cause?: unknown): WorkbenchError =>
  new WorkbenchError(code, "It broke.", "Mend it.", cause === undefined ? {} : { cause });

const table: readonly (readonly [string, RolloutPhase, unknown, OutcomeCause, boolean])[] = [
  ["a sandbox that names its cause", "starting", failing("sandbox", "image-pull"), "image-pull", false],
  ["an image that cannot be built", "starting", failing("sandbox", "image-build"), "image-build", true],
  ["a sandbox that says no more", "setup", failing("sandbox"), "setup-failed", false],
  ["a network that cannot be had", "preparing", failing("unavailable", "egress-denied"), "egress-denied", true],
  ["a machine that lacks something", "starting", failing("unavailable"), "setup-failed", true],
  ["a harness that cannot be had", "preparing", failing("harness"), "harness-missing", true],
  ["a policy that cannot be had", "preparing", failing("upstream"), "upstream-unreachable", false],
  ["a store that is full", "collecting", failing("store"), "disk-full", true],
  ["a full disk", "collecting", Object.assign(new Error("no space"), { code: "ENOSPC" }), "disk-full", true],
  ["setup over its budget", "setup", new PhaseTimeout("setup", 1000), "setup-timeout", false],
  ["a box that does not answer", "stopping", new PhaseTimeout("stopping", 1000), "sandbox-lost", false],
  ["a verifier over every budget", "verifying", new PhaseTimeout("verifying", 1000), "verifier-timeout", false],
  ["a policy that keeps an agent waiting for hours", "running", new PhaseTimeout("running", 1000), "budget-exceeded", true],
  ["the guard", "running", new GuardTimeout(60_000), "budget-exceeded", true],
];

test.each(table)("%s", (_name, phase, error, cause, permanent) => {
  expect(stopOf(phase, error)).toMatchObject({ phase, cause, permanent });
});

test("a bug ends one rollout and is told as ours", () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect(stopOf("running", new TypeError("x is undefined"))).toMatchObject({
    cause: "setup-failed",
    permanent: true,
    detail: "A fault of the workbench in the phase running: x is undefined",
  });
  expect(logged).toHaveBeenCalledOnce();
});

test("too little disk refuses a rollout with what to do", async () => {
  await requireFreeDisk("/tmp", 1);
  const refused = requireFreeDisk("/tmp", Number.MAX_SAFE_INTEGER);
  await expect(refused).rejects.toThrow(/^The disk of \/tmp has [\d,]+ MB free; a rollout starts with/);
  expect(stopOf("preparing", await refused.catch((error: unknown) => error))).toMatchObject({ cause: "disk-full", permanent: true });
});
