import { execFileSync } from "node:child_process";

/** End-to-end tests drive the built product: build it once, before the first of them. */
export default function setup(): void {
  if (process.env.OPENFORGE_SKIP_BUILD === "1") return;
  execFileSync(process.execPath, ["main/launch.mjs", "--version"], { stdio: ["ignore", "ignore", "inherit"] });
}
