import { exportTo } from "../../exports/index.ts";
import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";
import { streamWork } from "../work-stream.ts";

export function exportHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  return {
    write: os.exports.write.handler(({ input, signal }) => streamWork(signal, (report, stop) => exportTo(parts, input, report, stop))),
  };
}
