/** The window's own files: no token needed, nothing outside the folder reachable, a strict content policy on every answer. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ttf": "font/ttf",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
  ".wasm": "application/wasm",
};

const contentPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data: blob:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const notBuilt = "The window is not built. Run `npm run build` and reload this page.\n";

/** Serves `pathname`, decoded, from `folder`; a path without an extension is a place inside the app and gets index.html. */
export async function serveStaticFile(folder: string, pathname: string, response: ServerResponse): Promise<void> {
  const inside = normalize(pathname).replace(/^([/\\])+/, "");
  let file = join(folder, inside === "" || inside === "." ? "index.html" : inside);
  if (!file.startsWith(folder + sep)) {
    response.writeHead(403).end();
    return;
  }
  if (!(await isFile(file))) {
    if (extname(file) !== "") {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
      return;
    }
    file = join(folder, "index.html");
    if (!(await isFile(file))) {
      response.writeHead(503, { "content-type": "text/plain" }).end(notBuilt);
      return;
    }
  }
  response.writeHead(200, {
    "content-type": mediaTypes[extname(file)] ?? "application/octet-stream",
    "content-security-policy": contentPolicy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": file.includes(`${sep}assets${sep}`) ? "public, max-age=31536000, immutable" : "no-cache",
  });
  createReadStream(file).pipe(response);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}
