/** Harnesses as they leave the service. */
import { z } from "zod";
import { captureLevels } from "../../engine/conversation/index.ts";

/** What a harness did when it was last run once to see whether it works here. */
export const harnessProbeSchema = z.object({
  at: z.number(),
  ok: z.boolean(),
  /** One sentence: what arrived, or what the program said last. */
  detail: z.string(),
  capture: z.enum(captureLevels).nullable(),
  /** Of the harness that was run; the manifest may name another by now. */
  version: z.string().nullable().default(null),
  sandbox: z.string().nullable().default(null),
  /** Name, system and processor of the machine. */
  machine: z.string().nullable().default(null),
  /** From the start of the rollout to its end. */
  seconds: z.number().nullable().default(null),
  /** Every request began with the one before and its answer, token for token; null = there was only one. */
  extends: z.boolean().nullable().default(null),
});

export const harnessViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  licence: z.string(),
  summary: z.string(),
  homepage: z.string().nullable(),
  /** One sentence when its manifest cannot be used; what the manifest would say is then empty. */
  fault: z.string().nullable(),
  dialects: z.array(z.string()),
  /** Whether call n+1 extends call n token for token, by the manifest. */
  prefix: z.enum(["exact", "after-normalising", "no"]),
  resident: z.boolean(),
  installed: z.boolean(),
  /** How it is brought here: bundled, npm, pip or cargo. */
  install: z.string(),
  needs: z.object({
    /** `node` = the Node that the workbench brings; `native` = nothing; `python` = the sandbox's. */
    runtime: z.string(),
    /** Lowest version of the runtime. */
    runtimeVersion: z.string().nullable(),
    /** Programs that must be on this machine to install it. */
    toInstall: z.array(z.string()),
    /** Programs that its sandbox must have. */
    programs: z.array(z.string()),
    /** A screen, real or virtual. */
    display: z.boolean(),
    diskMb: z.number().nullable(),
    memoryMb: z.number().nullable(),
  }),
  /** Transports of MCP servers that it can use; empty = none. */
  mcp: z.array(z.string()),
  /** It looks for skills. */
  skills: z.boolean(),
  /** What it cannot do (`mcp`, `skills`, `images`), with the reason as a clause. */
  lacks: z.record(z.string(), z.string()),
  contextWindow: z.number(),
  maxTokens: z.number(),
  lastProbe: harnessProbeSchema.nullable(),
});
export type HarnessProbeView = z.infer<typeof harnessProbeSchema>;
export type HarnessView = z.infer<typeof harnessViewSchema>;
