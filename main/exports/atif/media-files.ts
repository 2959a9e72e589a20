/** Images of a trajectory: files beside the document, each written once. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ContentPart } from "../../../engine/conversation/index.ts";
import type { Store } from "../../store/index.ts";
import type { AtifContent, AtifImage, AtifPart } from "./atif-form.ts";

const endings: Readonly<Record<string, string>> = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" };

export interface MediaFiles {
  /** Message content; a part that the format has no place for becomes a text that names it. */
  content(parts: readonly ContentPart[]): AtifContent;
  /** Writes the images that were named, under `folder`. */
  write(folder: string): Promise<void>;
}

/** `prefix`: where the images stand, relative to the document. */
export function mediaFiles(store: Store, prefix: string): MediaFiles {
  const files = new Map<string, Uint8Array>();
  const image = (part: Extract<ContentPart, { type: "image" }>): AtifImage | null => {
    const mediaType = part.mediaType ?? "image/png";
    const ending = endings[mediaType];
    if (ending === undefined) return null;
    if (part.source.kind === "url") return { type: "image", source: { media_type: mediaType, path: part.source.url } };
    const bytes = store.blobs.get(part.source.hash);
    if (bytes === null) return null;
    const path = `${prefix}/${part.source.hash.slice(0, 16)}.${ending}`;
    files.set(path, bytes);
    return { type: "image", source: { media_type: mediaType, path } };
  };
  return {
    content(parts) {
      if (parts.every((part) => part.type === "text")) return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      return parts.map((part): AtifPart => {
        if (part.type === "text") return part;
        const shown = part.type === "image" ? image(part) : null;
        return shown ?? { type: "text", text: `[${part.type}${"name" in part && part.name !== undefined ? ` ${part.name}` : ""}]` };
      });
    },
    async write(folder) {
      for (const [path, bytes] of files) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), bytes);
      }
    },
  };
}
