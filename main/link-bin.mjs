// npm does not put a package's own bin on its own path: without this link `npx openforge` finds nothing in a source checkout.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (process.platform !== "win32") {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const binFolder = join(root, "node_modules", ".bin");
  mkdirSync(binFolder, { recursive: true });
  rmSync(join(binFolder, "openforge"), { force: true });
  symlinkSync("../../main/launch.mjs", join(binFolder, "openforge"));
}
