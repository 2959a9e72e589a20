/** How a box reaches its rollout's proxy: a port on its own loopback, carried to the proxy's unix socket outside. */
import { WorkbenchError } from "../errors.ts";

export const modelPort = 8790;
export const modelBaseHost = `http://127.0.0.1:${modelPort}`;

/** `sun_path` holds 108 bytes; some programs keep a few for themselves, and a longer path is cut in silence. */
const longestSocketPath = 103;

export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= longestSocketPath) return;
  throw new WorkbenchError(
    "sandbox",
    `The proxy's socket path is ${bytes} bytes long; the system takes ${longestSocketPath}: ${path}`,
    "Use a shorter runtime folder: set XDG_RUNTIME_DIR to a short path.",
  );
}
