/** YAML text → manifest, or one sentence a fault with the line it is on. */
import { WorkbenchError } from "../errors.ts";
import { readYaml, type YamlReading } from "../yaml/index.ts";
import { type HarnessManifest, harnessManifestSchema } from "./manifest.ts";

/** Reads one manifest. Never throws for what a person can write wrong. */
export function readManifest(text: string): YamlReading<HarnessManifest> {
  return readYaml(text, harnessManifestSchema, { subject: "The manifest", example: "id: my-agent" });
}

/** Reads one manifest or throws its first fault as one sentence: `PATH:LINE: what is wrong`. */
export function requireManifest(text: string, path: string): HarnessManifest {
  const reading = readManifest(text);
  if (reading.ok) return reading.value;
  const [first, ...others] = reading.faults;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  throw new WorkbenchError(
    "harness",
    `${path}:${first?.line ?? 1}: ${first?.message ?? "unreadable."}${more}`,
    "Correct the manifest; docs/harnesses.md has every key.",
    {
      exitCode: 2,
    },
  );
}
