// The worker thread when the service runs from its sources: Node 20 reads no TypeScript, and a thread does not inherit the loader.
import { register } from "tsx/esm/api";

register();
await import("./worker.ts");
