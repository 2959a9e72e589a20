/** Entry of an importer process: takes one model in, tells of its weights as they are written, ends when its parent does. */
import { type AskContext, serveParent } from "../engine-process/index.ts";
import { WorkbenchError } from "../errors.ts";
import { importModel } from "./import-model.ts";
import type { ImportAsk, ImportReply } from "./importer.ts";

async function answer({ path, dataFolder, name }: ImportAsk, { signal, onProgress }: AskContext): Promise<ImportReply> {
  try {
    const model = await importModel(path, { dataFolder, signal, onProgress, ...(name === null ? {} : { name }) });
    return { type: "imported", model };
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    const { code, message, remedy, exitCode } = error;
    return { type: "refused", fault: { code, message, remedy, exitCode } };
  }
}

serveParent<null, null, ImportAsk, ImportReply>({
  open: async () => ({ info: null, handler: { answer } }),
  failureOf: () => null,
});
