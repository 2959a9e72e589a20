/**
 * A harness manifest: everything the workbench must know to run an agent program as its makers ship it. YAML on disk, no code.
 * Every text below may use `${…}` values; docs/harnesses.md lists them.
 */
import { z } from "zod";

const runtime = z.strictObject({
  /** `node` = the Node that the workbench brings; `native` = a static binary; `python` = a virtual environment. */
  kind: z.enum(["node", "native", "python"]),
  /** Lowest version of the runtime. */
  version: z.string().optional(),
});

const install = z.discriminatedUnion("kind", [
  /** Ships with the manifest; `path` is the folder or file beside it that becomes `${harness}`. */
  z.strictObject({
    kind: z.literal("bundled"),
    path: z
      .string()
      .min(1)
      .refine((path) => !path.split(/[/\\]/).includes(".."), "must lie beside the manifest, without `..`"),
  }),
  z.strictObject({
    kind: z.literal("npm"),
    /** Name and exact version, `name@1.2.3`; `${arch}` is x64 or arm64. */
    package: z.string().regex(/.@[^@]+$/, "a name and an exact version, as in my-agent@1.2.3"),
    /** Further packages, as `package`. */
    extra: z.array(z.string()).default([]),
    /** Paths kept of the install, `*` for any part of a name and `**` for any depth; all when left out. */
    keep: z.array(z.string()).optional(),
    /** Names of packages whose own install scripts run; no others do. */
    scripts: z.array(z.string()).optional(),
  }),
  z.strictObject({ kind: z.literal("pip"), package: z.string(), extra: z.array(z.string()).default([]) }),
  z.strictObject({
    kind: z.literal("cargo"),
    /** Name and exact version of a crate, `name@1.2.3`; it is built on this machine with the crate's own lock file. */
    package: z.string().regex(/.@\d[^@]*$/, "a name and an exact version, as in my-agent@1.2.3"),
    features: z.array(z.string()).default([]),
    defaultFeatures: z.boolean().default(true),
    /** The one program that is wanted of a crate with several. */
    program: z.string().optional(),
    /** Build it with an older Rust than the crate asks for. */
    ignoreRustVersion: z.boolean().default(false),
    /** Settings of Cargo's release profile, by their names in a Cargo.toml (`opt-level: 1`). */
    profile: z.record(z.string().regex(/^[a-z-]+$/), z.union([z.string(), z.number(), z.boolean()])).default({}),
  }),
]);

/** Names calls that the harness makes beside its main loop: all that is given must hold, and `*` in a text stands for any. */
const sideCall = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "lower-case letters, digits and hyphens, as in title"),
    model: z.string().optional(),
    /** Request headers by name. */
    headers: z.record(z.string(), z.string()).optional(),
    /** The request's system text. */
    system: z.string().optional(),
    /** Whether it brings tools. */
    tools: z.boolean().optional(),
  })
  .refine(({ name: _, ...when }) => Object.keys(when).length > 0, "say when: one of model, headers, system and tools at least");

export const harnessManifestSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/, "lower-case letters, digits and hyphens, as in my-agent"),
  name: z.string(),
  version: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.+_-]*$/, "an exact version, as in 1.2.3"),
  licence: z.string(),
  homepage: z.string().optional(),
  summary: z.string(),
  install,
  runtime,
  dialects: z.array(z.enum(["chat", "responses", "messages", "gemini"])).min(1),
  /** Named values of this harness, used as `${settings.NAME}`; a person changes them in a copy of the manifest. */
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  /** Files written into the sandbox before the start, by absolute path; `${home}` is the fresh HOME of the rollout. */
  files: z.record(z.string(), z.string()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  /** argv; `${instruction}` is one argument unless the instruction is too long for a command line, then stdin is used. */
  command: z.array(z.string()).min(1),
  /** How the task text reaches the program: `${instruction}` in `command`, its standard input, or `${instructionFile}`. */
  instruction: z.enum(["argument", "stdin", "file"]).default("argument"),
  /** The argument that stands for `${instruction}` when it goes by standard input instead (many programs want `-`). */
  stdinArgument: z.string().optional(),
  /** The MCP servers of a task. Left out: the harness has no MCP and a task that needs it is refused. */
  mcp: z
    .strictObject({
      transports: z.array(z.enum(["stdio", "sse", "streamable-http"])).min(1),
      /** File to whose end the text of each server is appended. Left out: `${mcpEntries}` holds those texts, with commas between. */
      file: z.string().optional(),
      /** The text of one server, by transport: `${server.name}`, `.command`, `.args`, `.commandLine` (both in one list), `.url`, `.headers`. */
      perServer: z.partialRecord(z.enum(["stdio", "sse", "streamable-http"]), z.string()).optional(),
    })
    .optional(),
  /** Absolute folder in which it looks for skills, each a folder with a SKILL.md. Left out: it has none. */
  skills: z.string().optional(),
  /** What it cannot do of what tasks may ask for, with the reason as a clause (`it has no MCP client`); told before a run. */
  lacks: z.partialRecord(z.enum(["mcp", "skills", "images"]), z.string()).default({}),
  /** What it takes beside its runtime, as measured. */
  needs: z
    .strictObject({
      /** Of the install. */
      diskMb: z.number().positive().optional(),
      /** Peak of one rollout. */
      memoryMb: z.number().positive().optional(),
      /** Programs that its sandbox must have, beside a shell. */
      programs: z.array(z.string()).default([]),
      /** A screen, real or virtual. */
      display: z.boolean().default(false),
    })
    .prefault({}),
  stop: z
    .strictObject({
      /** Exit codes by which the program says that it reached a limit of its own (turns, cost): graded like any end. */
      limitExitCodes: z.array(z.number().int().min(1).max(255)).default([]),
    })
    .prefault({}),
  session: z
    .strictObject({
      /** Request headers kept with each call: thread, parent, subagent marks. */
      headers: z.array(z.string()).default([]),
      /** Calls beside the main loop (a title, a topic): shown as such and not trained. The first that fits counts. */
      sideCalls: z.array(sideCall).default([]),
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
      /** Where the final text is: its standard output is written to /logs/agent/final.txt (`stdout`), or it writes that itself (`file`). */
      finalText: z.enum(["none", "stdout", "file"]).default("none"),
    })
    .prefault({}),
  /**
   * One process can serve many rollouts, each with a fresh session and its own tool sandbox: how it is started for that. It speaks
   * the messages of resident-messages.ts. Only values of the harness itself may be used here, none of a rollout.
   */
  resident: z.strictObject({ command: z.array(z.string()).min(1) }).optional(),
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
