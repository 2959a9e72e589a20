/** Imports models in a process of its own: dequantising a file of gigabytes must not hold up what the service records meanwhile. */
import { openChild } from "../engine-process/index.ts";
import { type ErrorCode, type ExitCode, WorkbenchError } from "../errors.ts";
import type { ImportedModel, ImportOptions } from "./import-model.ts";

export interface ImportAsk {
  readonly path: string;
  readonly dataFolder: string;
  readonly name: string | null;
}

/** What is wrong with the path or the model, in the parts of a WorkbenchError. */
interface ImportFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
  readonly exitCode: ExitCode;
}

export type ImportReply = { readonly type: "imported"; readonly model: ImportedModel } | { readonly type: "refused"; readonly fault: ImportFault };

const entry = { source: new URL("./importer-from-source.mjs", import.meta.url), built: new URL("./importer-process.js", import.meta.url) };

/** As `importModel`, beside the caller's event loop. Rejects with WorkbenchError, or with the signal's reason; then nothing is left behind. */
export async function importModelApart(path: string, { dataFolder, name, signal, onProgress }: ImportOptions): Promise<ImportedModel> {
  const { child } = await openChild<null, null, ImportAsk, ImportReply>(entry, null).catch((error: unknown) => {
    throw notRead(path, error instanceof Error ? error.message : String(error));
  });
  try {
    const answer = await child.ask(
      { path, dataFolder, name: name ?? null },
      { ...(signal === undefined ? {} : { signal }), ...(onProgress === undefined ? {} : { onProgress }) },
    );
    if (!answer.ok) throw notRead(path, answer.failure.message);
    if (answer.reply.type === "imported") return answer.reply.model;
    const { code, message, remedy, exitCode } = answer.reply.fault;
    throw new WorkbenchError(code, message, remedy, { exitCode });
  } finally {
    await child.close();
  }
}

function notRead(path: string, problem: string): WorkbenchError {
  return new WorkbenchError(
    "unavailable",
    `The model in ${path} was not imported: ${problem}${problem.endsWith(".") ? "" : "."}`,
    "See that memory and disk are enough, then import it again.",
  );
}
