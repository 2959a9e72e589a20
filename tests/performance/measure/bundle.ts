/** Programs bundled as the service ships. */
import { join } from "node:path";
import { build } from "rolldown";

/**
 * Bundles programs by name into dist/bench/`folder`, whose path it resolves with. Run from source, every function that is made is given its
 * name by a helper, and the loader takes memory of its own.
 */
export async function bundle(folder: string, input: Readonly<Record<string, string>>): Promise<string> {
  const dir = join(import.meta.dirname, "../../../dist/bench", folder);
  const external = [/^better-sqlite3/, /^onnxruntime-node/, /\.node$/];
  await build({
    input: { ...input },
    external,
    platform: "node",
    tsconfig: false,
    logLevel: "silent",
    output: { dir, format: "esm", cleanDir: true },
  });
  return dir;
}
