import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { importGguf } from "../../main/models/index.ts";

/** Folder of SmolLM2-135M-Instruct, fetched and imported at first use; null where it cannot be had. */
export async function smallModel(): Promise<string | null> {
  let file: string;
  try {
    file = execFileSync(process.execPath, ["tests/house/small-model.mjs"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
  const model = join(dirname(file), "SmolLM2-135M-Instruct");
  if (!existsSync(model))
    await importGguf(file, model).catch((error: unknown) => {
      // Another test file was quicker.
      if (!existsSync(model)) throw error;
    });
  return model;
}
