/** Images and files inside requests: data URLs become blobs that are stored once, other addresses stay addresses. */
import type { MediaSource } from "../../../engine/conversation/index.ts";
import type { MediaStore } from "./dialect.ts";

const dataUrl = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)?((?:;[a-z0-9-]+=[^;,]+)*);base64,/i;

export interface ReadMedia {
  readonly source: MediaSource;
  readonly mediaType?: string;
}

export function readMedia(url: string, media: MediaStore): ReadMedia {
  const head = dataUrl.exec(url);
  if (head === null) return { source: { kind: "url", url } };
  const encoded = url.slice(head[0].length);
  const bytes = Buffer.from(encoded, "base64");
  // Node skips what is no base64; what would not come back as it was is kept as it is.
  if (bytes.toString("base64") !== encoded) return { source: { kind: "url", url } };
  return { source: { kind: "blob", hash: media.put(bytes) }, ...(head[1] === undefined ? {} : { mediaType: head[1] }) };
}

/** The address to send on: the data URL again for a blob. Null when the blob is gone. */
export function mediaUrl(source: MediaSource, mediaType: string | undefined, media: MediaStore): string | null {
  if (source.kind === "url") return source.url;
  const bytes = media.get(source.hash);
  if (bytes === null) return null;
  return `data:${mediaType ?? "application/octet-stream"};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`;
}
