/** Weights to import as the form holds them: texts while they are typed. Pure. */
import { isWholePath } from "../../words/paths.ts";

export interface WeightsForm {
  readonly path: string;
  /** Empty = from the name of the file. */
  readonly name: string;
}

/** A file gets a name here; a folder is used under its own path. */
export const isGguf = (path: string): boolean => /\.gguf$/i.test(path.trim());

export function weightsMistakes({ path, name }: WeightsForm): { readonly path?: string; readonly name?: string } {
  return {
    ...(isWholePath(path) ? {} : { path: "A whole path, for example /home/ada/models/qwen3-0.6b.gguf." }),
    ...(!isGguf(path) || /^[\w.-]*$/.test(name.trim()) ? {} : { name: "Letters, digits, dots, hyphens and underscores, for example qwen3-0.6b." }),
  };
}

/** What is sent: a name goes with a file only. */
export function weightsInput({ path, name }: WeightsForm): { path: string; name?: string } {
  return { path: path.trim(), ...(isGguf(path) && name.trim() !== "" ? { name: name.trim() } : {}) };
}
