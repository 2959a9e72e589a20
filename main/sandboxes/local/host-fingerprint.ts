import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { arch, release } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What makes a rollout on this machine's own distribution reproducible. */
export async function hostFingerprint(): Promise<Readonly<Record<string, string>>> {
  const [distribution, packages, bubblewrap] = await Promise.all([
    readFile("/etc/os-release", "utf8").then(prettyName, () => "unknown"),
    packageDigest(),
    run("bwrap", ["--version"]).then(
      ({ stdout }) => stdout.trim(),
      () => "unknown",
    ),
  ]);
  return {
    image: "host",
    distribution,
    kernel: release(),
    architecture: arch(),
    locale: "C.UTF-8",
    timezone: "UTC",
    node: process.version,
    bubblewrap,
    packages,
  };
}

function prettyName(osRelease: string): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? "unknown";
}

/** Digest of the sorted list `name version`, by whichever package manager answers. */
async function packageDigest(): Promise<string> {
  const listings: readonly (readonly [string, readonly string[]])[] = [
    ["dpkg-query", ["-W"]],
    ["rpm", ["-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n"]],
    ["pacman", ["-Q"]],
  ];
  for (const [program, args] of listings) {
    const listed = await run(program, [...args], { maxBuffer: 64 * 1024 ** 2 }).catch(() => null);
    if (listed === null || listed.stdout === "") continue;
    const sorted = listed.stdout.split("\n").filter(Boolean).sort().join("\n");
    return `sha256:${createHash("sha256").update(sorted).digest("hex")}`;
  }
  return "unknown";
}
