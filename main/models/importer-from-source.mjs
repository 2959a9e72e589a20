// The importer process when the service runs from its sources: Node 20 reads no TypeScript.
import { register } from "tsx/esm/api";

register();
await import("./importer-process.ts");
