import { stat } from "node:fs/promises";
import type { HarnessMount } from "./contract.ts";
import { sandboxError } from "./sandbox-error.ts";

/** Refuses a harness folder that is not there, or that the sandbox's user could not read once it is mounted. */
export async function checkHarness(harness: HarnessMount, user: { readonly uid: number }): Promise<void> {
  const found = await stat(harness.hostFolder).catch(() => null);
  if (found === null || !found.isDirectory()) {
    throw sandboxError("setup-failed", `There is no harness in ${harness.hostFolder}.`, "Install it: openforge harness install.");
  }
  const shared = (found.mode & 0o005) === 0o005;
  if (user.uid !== found.uid && !shared) {
    throw sandboxError(
      "setup-failed",
      `The harness in ${harness.hostFolder} is closed to the sandbox's user.`,
      `Open it: chmod -R o+rX ${harness.hostFolder}`,
    );
  }
}
