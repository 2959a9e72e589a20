/** A harness manifest: everything the workbench must know to run an agent program as its makers ship it. YAML on disk, no code. */
import { z } from "zod";

const runtime = z.strictObject({
  /** `node` = the Node that the workbench brings; `native` = a static binary; `python` = a virtual environment. */
  kind: z.enum(["node", "native", "python"]),
  /** Lowest version of the runtime. */
  version: z.string().optional(),
});

export const harnessManifestSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/, "lower-case letters, digits and hyphens, as in my-agent"),
  name: z.string(),
  version: z.string(),
  licence: z.string(),
  homepage: z.string().optional(),
  summary: z.string(),
  /** How to get exactly this version into its own folder; `bundled` ships with the workbench (path from resources/harnesses/<id>). */
  install: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("bundled"), path: z.string() }),
    z.strictObject({
      kind: z.literal("npm"),
      package: z.string(),
      /** Per platform-arch: further packages that hold the native binary. */
      extra: z.array(z.string()).default([]),
      /** Paths (globs) kept of the install; all when left out. */
      keep: z.array(z.string()).optional(),
    }),
    z.strictObject({ kind: z.literal("pip"), package: z.string(), extra: z.array(z.string()).default([]) }),
    z.strictObject({ kind: z.literal("cargo"), package: z.string(), features: z.array(z.string()).default([]) }),
  ]),
  runtime,
  dialects: z.array(z.enum(["chat", "responses", "messages", "gemini"])).min(1),
  /**
   * Files written into the sandbox before the start; `${home}` is the fresh HOME of the rollout. Values may use
   * `${baseUrl}` (with /v1 where the dialect has it), `${origin}` (without), `${key}`, `${model}`, `${workdir}`, `${harness}`,
   * `${instructionFile}`, `${mcpServersJson}`, `${maxTokens}`, `${contextWindow}`.
   */
  files: z.record(z.string(), z.string()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  /** argv; `${instruction}` is one argument unless the instruction is too long for a command line, then stdin is used. */
  command: z.array(z.string()).min(1),
  /** How the task text reaches the program. */
  instruction: z.enum(["argument", "stdin", "file"]).default("argument"),
  /** Further settings when the task brings MCP servers: text appended to a file, per server (`${server.name}` …). */
  mcp: z.strictObject({ file: z.string(), perServer: z.string(), format: z.enum(["append", "json-object"]).default("append") }).optional(),
  session: z
    .strictObject({
      /** Request headers kept with each call: thread, parent, subagent marks. */
      headers: z.array(z.string()).default([]),
    })
    .prefault({}),
  quirks: z
    .strictObject({
      /** JSON paths (dots, `*` for any key or index) that vary between equal requests. */
      volatileFields: z.array(z.string()).default([]),
      /** Keepalive comments are counted as life by this client; false = silence until the answer. */
      keepaliveComments: z.boolean().default(true),
      /** Comes back for an answer whose connection it cut itself. */
      returnsForAnswer: z.boolean().default(true),
      /** Path of a file under /logs/agent that holds the final text, written from its standard output when `stdout`. */
      finalText: z.enum(["none", "stdout", "file"]).default("none"),
    })
    .prefault({}),
  /** One process serves many rollouts, each with a fresh session and its own tool sandbox. */
  resident: z.boolean().default(false),
  limits: z
    .strictObject({
      setupSeconds: z.number().positive().default(120),
      contextWindow: z.number().int().positive().default(128_000),
      maxTokens: z.number().int().positive().default(8192),
    })
    .prefault({}),
  /** Whether call n+1 extends call n token for token, as measured. */
  prefix: z.enum(["exact", "after-normalising", "no"]),
});

export type HarnessManifest = z.infer<typeof harnessManifestSchema>;
