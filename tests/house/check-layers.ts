/**
 * Holds the code to the table of the house. Prints every breach with the rule it breaks and exits 1.
 * Also: a capability folder is entered by its index.ts only.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

interface Layer {
  readonly folder: string;
  readonly may: string;
  /** Whether a file of this layer may import the repository file `target`. */
  readonly allows: (target: string, typeOnly: boolean) => boolean;
  /** Whether it may import the package or built-in `name`. */
  readonly allowsPackage: (name: string) => boolean;
}

const isFaceOfService = (target: string): boolean => /^main\/api\/(contract|([a-z]+-)?views)\.ts$/.test(target);
const within = (folder: string) => (target: string) => target.startsWith(`${folder}/`);
const isBuiltIn = (name: string): boolean => name.startsWith("node:");
const isDesktop = (name: string): boolean => name === "electron" || name.startsWith("electron/");
const isWindow = (name: string): boolean => /^(react|react-dom|zustand|lucide-react|@base-ui\/|@tanstack\/)/.test(name);

const layers: readonly Layer[] = [
  {
    folder: "engine",
    may: "engine/ imports itself only: no Node, no Electron, no DOM",
    allows: within("engine"),
    allowsPackage: (name) => !isBuiltIn(name) && !isDesktop(name) && !isWindow(name),
  },
  {
    folder: "main",
    may: "main/ imports main/, engine/ and k8s/: no Electron, no DOM",
    allows: (target) => ["main", "engine", "k8s"].some((folder) => within(folder)(target)),
    allowsPackage: (name) => !isDesktop(name) && !isWindow(name),
  },
  {
    folder: "electron",
    may: "electron/ imports electron/ and main/api/contract",
    allows: (target) => within("electron")(target) || isFaceOfService(target),
    allowsPackage: (name) => !isWindow(name),
  },
  {
    folder: "renderer",
    may: "renderer/ imports renderer/, main/api/contract and types of engine/: no Node",
    allows: (target, typeOnly) => within("renderer")(target) || isFaceOfService(target) || (typeOnly && within("engine")(target)),
    allowsPackage: (name) => !isBuiltIn(name) && !isDesktop(name),
  },
  { folder: "k8s", may: "k8s/ imports itself only", allows: within("k8s"), allowsPackage: () => true },
];

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const importPattern = /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** A layer without files yet has no folder in a clone. */
function sourceFiles(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx)$/.test(entry.name) && !entry.name.endsWith(".d.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** `main/store/x.ts` → `main/store`; files directly in main/ belong to no capability. */
function capabilityOf(file: string): string | null {
  const parts = file.split("/");
  return parts.length > 2 ? `${parts[0]}/${parts[1]}` : null;
}

function breachesOf(layer: Layer, file: string): string[] {
  const breaches: string[] = [];
  const isTest = /\.test\.tsx?$/.test(file);
  for (const match of readFileSync(join(root, file), "utf8").matchAll(importPattern)) {
    const name = match[3] ?? match[4] ?? "";
    const typeOnly = match[2] !== undefined;
    if (!name.startsWith(".")) {
      if (!isTest && !layer.allowsPackage(name)) breaches.push(`${file}: imports "${name}". ${layer.may}.`);
      continue;
    }
    const target = relative(root, resolve(root, dirname(file), name))
      .split(sep)
      .join("/")
      .replace(/\?.*$/, "");
    if (!isTest && !layer.allows(target, typeOnly)) breaches.push(`${file}: imports ${target}. ${layer.may}.`);
    const capability = capabilityOf(target);
    const foreign = capability !== null && capability !== capabilityOf(file) && (target.startsWith("main/") || target.startsWith("engine/"));
    if (foreign && !isTest && !/\/index\.tsx?$/.test(target) && !isFaceOfService(target)) {
      breaches.push(`${file}: imports ${target}. A capability folder is entered by its index.ts only.`);
    }
  }
  return breaches;
}

const breaches = layers.flatMap((layer) => sourceFiles(layer.folder).flatMap((file) => breachesOf(layer, file)));
for (const breach of breaches) console.error(breach);
console.log(breaches.length === 0 ? "layers: every import is allowed" : `layers: ${breaches.length} imports are not allowed`);
process.exitCode = breaches.length === 0 ? 0 : 1;
