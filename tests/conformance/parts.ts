import { stat } from "node:fs/promises";
import { join } from "node:path";
import { checkAlgorithms } from "./algorithms.ts";
import { checkChatTemplates } from "./chat-templates.ts";
import { checkGguf } from "./gguf.ts";
import { checkHarbor } from "./harbor.ts";
import { checkModels } from "./models.ts";
import { type ConformancePart, Report } from "./report.ts";
import { checkSafetensors } from "./safetensors.ts";
import { checkSmallModel } from "./smollm2.ts";
import { checkTokenizers } from "./tokenizers.ts";
import { checkToolCalls } from "./tool-calls.ts";

/** Every part this build can check, by the name of its folder. A further part is a module and a line here. */
export const conformanceParts: Readonly<Record<string, ConformancePart>> = {
  algorithms: checkAlgorithms,
  "chat-templates": checkChatTemplates,
  gguf: checkGguf,
  harbor: checkHarbor,
  models: checkModels,
  safetensors: checkSafetensors,
  smollm2: checkSmallModel,
  tokenizers: checkTokenizers,
  "tool-calls": checkToolCalls,
};

export interface PartResult {
  readonly part: string;
  /** false: the folder has no such part. */
  readonly present: boolean;
  readonly passed: number;
  readonly failures: readonly string[];
  readonly skipped: readonly string[];
}

/** Runs one part on a folder that has the layout of `tests/fixtures`. A part that cannot be read at all is one failure. */
export async function runPart(part: string, check: ConformancePart, directory: string): Promise<PartResult> {
  const folder = join(directory, part);
  const found = await stat(folder).catch(() => null);
  if (found === null || !found.isDirectory()) return { part, present: false, passed: 0, failures: [], skipped: [] };
  const report = new Report(part);
  try {
    await check(folder, report);
  } catch (error) {
    return {
      part,
      present: true,
      passed: report.passed,
      skipped: report.skipped,
      failures: [...report.failures, `${part}: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
  return { part, present: true, passed: report.passed, failures: report.failures, skipped: report.skipped };
}
