/** How a stored file is shown, by its name: the first thing that its maker says of it. Pure. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
};
const packed = new Set([
  "gz",
  "tgz",
  "zip",
  "tar",
  "zst",
  "xz",
  "bz2",
  "parquet",
  "db",
  "sqlite",
  "npz",
  "npy",
  "pt",
  "safetensors",
  "pdf",
  "wasm",
  "bin",
]);

type FileKind = { readonly kind: "image"; readonly mediaType: string } | { readonly kind: "bytes" } | { readonly kind: "text" };

export function fileKind(name: string): FileKind {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const mediaType = imageTypes[ending];
  if (mediaType !== undefined) return { kind: "image", mediaType };
  return packed.has(ending) ? { kind: "bytes" } : { kind: "text" };
}

/** A text that is none: it holds zero bytes or much that is no character. */
export function looksBinary(text: string): boolean {
  const sample = text.slice(0, 4000);
  if (sample.includes("\u0000")) return true;
  const odd = [...sample].filter((character) => character === "\ufffd").length;
  return odd > sample.length / 20;
}

/** The folder that files are listed under; the last part stays with the file. */
export function folderOf(name: string): string {
  const at = name.lastIndexOf("/");
  return at === -1 ? "" : name.slice(0, at);
}
