export { openFile } from "./file-source.ts";
export { importGguf } from "./import-gguf.ts";
export { importedModels, importModel } from "./import-model.ts";
export { importModelApart } from "./importer.ts";
export { type ModelFolder, openModelFolder } from "./model-folder.ts";
export { absolutePolicy } from "./policy-name.ts";
export {
  type PublishedVersion,
  publishedFolder,
  publishedRunSchema,
  publishedSteps,
  readPublishedVersion,
  trainingFolder,
} from "./published-run.ts";
export { writeModelFolder } from "./write-model.ts";
