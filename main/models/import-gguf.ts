/** A GGUF file as a model folder: weights dequantised to float32 once, so that they are mapped and trained like any other. */
import { basename } from "node:path";
import { describeModel, ggufWeights, readGgufConfig, writeHuggingFaceConfig } from "../../engine/models/index.ts";
import { loadTokenizer, tokenizerFromGguf } from "../../engine/tokenizers/index.ts";
import { readGguf } from "../../engine/weights/index.ts";
import { WorkbenchError } from "../errors.ts";
import { openFile } from "./file-source.ts";
import { asModelProblem } from "./model-folder.ts";
import { type WriteOptions, writeModelFolder } from "./write-model.ts";

/** Throws WorkbenchError with one sentence for a file that holds no model that this engine runs. */
export async function importGguf(path: string, folder: string, options: WriteOptions = {}): Promise<void> {
  const source = openFile(path, basename(path));
  try {
    const file = readGguf(source);
    const description = describeModel(readGgufConfig(file));
    const weights = ggufWeights(description, file);
    const tokenizer = readTokenizer(file.metadata);
    const { special } = loadTokenizer(tokenizer.tokenizerJson, tokenizer.configJson);
    const generation = { bos_token_id: special.bos, eos_token_id: special.eos, pad_token_id: special.pad };
    const files = {
      "config.json": writeHuggingFaceConfig(description.config, special),
      "generation_config.json": `${JSON.stringify(generation, null, 2)}\n`,
      "tokenizer.json": tokenizer.tokenizerJson,
      "tokenizer_config.json": tokenizer.configJson,
    };
    await writeModelFolder(folder, { description, weight: (name) => weights.values(name), files }, options);
  } catch (error) {
    throw asModelProblem(error);
  } finally {
    source.close();
  }
}

function readTokenizer(metadata: Parameters<typeof tokenizerFromGguf>[0]): ReturnType<typeof tokenizerFromGguf> {
  try {
    return tokenizerFromGguf(metadata);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new WorkbenchError(
      "unavailable",
      `The model's tokenizer cannot be used: ${problem}.`,
      "Use the Hugging Face checkpoint of the model instead.",
      {
        exitCode: 2,
        cause: error,
      },
    );
  }
}
