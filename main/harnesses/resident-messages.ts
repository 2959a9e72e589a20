/**
 * What the service and a resident harness say to each other: one JSON object a line, over the program's standard input and output.
 * docs/harnesses.md ("Resident harnesses") is the description for those who write one.
 */
import { z } from "zod";
import type { HarnessManifest } from "./manifest.ts";

/** Service → program. */
export type ToResident =
  | {
      readonly type: "start";
      readonly session: string;
      /** With `/v1`. */
      readonly baseUrl: string;
      readonly key: string;
      readonly model: string;
      readonly task: string;
      readonly workdir: string;
      readonly contextWindow: number;
      readonly maxTokens: number;
      readonly settings: HarnessManifest["settings"];
    }
  | {
      readonly type: "result";
      readonly session: string;
      readonly id: number;
      /** Both output streams in their order. */
      readonly output: string;
      /** null = unknown. */
      readonly exitCode: number | null;
      readonly timedOut: boolean;
      readonly droppedBytes: number;
      /** Why it could not be run at all; null = it ran. */
      readonly error: string | null;
    }
  | { readonly type: "stop"; readonly session: string };

const session = z.string();

/** Program → service. Unknown keys are ignored. */
export const fromResidentSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready") }),
  z.object({
    type: z.literal("exec"),
    session,
    id: z.number().int(),
    /** Text for bash, run in the task's working folder. */
    command: z.string(),
    seconds: z.number().positive().default(120),
    /** Bytes of its output that come back; the rest is counted. */
    outputBytes: z.number().int().positive().max(8_000_000).default(8_000_000),
    /** Its standard input; left out = empty. */
    stdin: z.string().optional(),
  }),
  z.object({ type: z.literal("log"), session, line: z.unknown() }),
  z.object({
    type: z.literal("end"),
    session,
    exitCode: z.number().int().min(0).max(255),
    /** The final text; null = there is none. */
    text: z.string().nullable(),
    /** Last words of a failure. */
    error: z.string().nullable(),
  }),
]);
export type FromResident = z.infer<typeof fromResidentSchema>;
