/** A policy's tokenizer and chat template from its folder on disk, read once. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createPromptBuilder, type PromptBuilder } from "../../engine/prompts/index.ts";
import { compileTemplate } from "../../engine/templates/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { WorkbenchError } from "../errors.ts";

export interface PolicyText {
  readonly tokenizer: Tokenizer;
  readonly builder: PromptBuilder;
}

const configSchema = z.looseObject({
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]).nullish(),
});
const generationSchema = z.looseObject({ eos_token_id: z.union([z.number(), z.array(z.number())]).nullish() });

const files = ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"] as const;
const loaded = new Map<string, { readonly version: string; readonly text: Promise<PolicyText> }>();

/** Reads `tokenizer.json`, `tokenizer_config.json` and, where they are, `chat_template.jinja` and `generation_config.json`; again when one changed. */
export async function loadPolicyText(folder: string): Promise<PolicyText> {
  const version = await versionOf(folder);
  const known = loaded.get(folder);
  if (known?.version === version) return known.text;
  const text = readFolder(folder);
  loaded.set(folder, { version, text });
  text.catch(() => loaded.delete(folder));
  return text;
}

async function versionOf(folder: string): Promise<string> {
  const stamps = await Promise.all(
    files.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => null);
      return found === null ? "none" : `${found.mtimeMs}/${found.size}`;
    }),
  );
  return stamps.join(" ");
}

async function readFolder(folder: string): Promise<PolicyText> {
  const tokenizerJson = await read(folder, "tokenizer.json");
  if (tokenizerJson === null) throw unusable(folder, "it has no tokenizer.json");
  const configText = await read(folder, "tokenizer_config.json");
  const tokenizer = loadTokenizer(tokenizerJson, configText ?? undefined);
  const source = (await read(folder, "chat_template.jinja")) ?? templateOf(configText ?? "{}");
  if (source === null) throw unusable(folder, "it has no chat template");
  const generation = generationSchema.safeParse(JSON.parse((await read(folder, "generation_config.json")) ?? "{}"));
  const endIds = [generation.success ? (generation.data.eos_token_id ?? []) : []].flat();
  return { tokenizer, builder: createPromptBuilder({ tokenizer, template: compileTemplate(source), endIds }) };
}

function templateOf(configText: string): string | null {
  const config = configSchema.safeParse(JSON.parse(configText));
  const template = config.success ? config.data.chat_template : null;
  if (template == null || typeof template === "string") return template ?? null;
  return (template.find((each) => each.name === "default") ?? template[0])?.template ?? null;
}

async function read(folder: string, name: (typeof files)[number]): Promise<string | null> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw unusable(folder, error instanceof Error ? error.message : String(error));
  }
}

function unusable(folder: string, why: string): WorkbenchError {
  return new WorkbenchError(
    "usage",
    `The tokenizer folder ${folder} can't be used: ${why}.`,
    "Name a folder in Hugging Face form: tokenizer.json and tokenizer_config.json with a chat template.",
  );
}
