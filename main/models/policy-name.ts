/** Names of policies as a person types them: those that name something on disk are meant from a folder of theirs, not of the service. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** `scripted:FILE` and `embedded:FOLDER` become absolute; the name of an imported model, an id and an address stay as they are. */
export function absolutePolicy(policy: string, folder: string): string {
  const [, kind, path = ""] = /^(scripted|embedded):(.+)$/s.exec(policy) ?? [];
  if (kind === undefined || (kind === "embedded" && !isFolder(path, folder))) return policy;
  return `${kind}:${resolve(folder, path)}`;
}

/** A bare word is an imported model, unless a model of that name lies here. Settings follow a question mark. */
function isFolder(path: string, folder: string): boolean {
  const [model = ""] = path.split("?", 1);
  return /[\\/]/.test(model) || existsSync(join(resolve(folder, model), "config.json"));
}
