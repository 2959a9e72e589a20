/**
 * `task.toml` as Harbor 0.26 (task schema 1.4) reads it: what it accepts is accepted, what it refuses is refused.
 * Unknown keys are dropped here as there; the reader reports them. Only keys that the file sets are in the result.
 */
import { z } from "zod";
import { artifactDestinationProblem, artifactSourceProblem, isAbsoluteContainerPath } from "./artifact-entry.ts";
import { boolean, describeValue, float, integer, processorCount, pythonStrip, text, textOrInteger, word } from "./lax-values.ts";
import { headerProblem } from "./mcp-headers.ts";
import { sizeInMegabytes } from "./memory-size.ts";
import { normalizeHost } from "./network-hosts.ts";
import { stepNameKey, stepNameProblem } from "./step-names.ts";
import { isTomlTable, type TomlTable, type TomlValue } from "./toml-source.ts";

type Context = z.RefinementCtx;

const fail = (context: Context, message: string, path: (string | number)[] = []) => context.addIssue({ code: "custom", message, path });

/** A TOML table with the given keys; `prepare` sees it before the keys are read. */
function table<T extends z.ZodRawShape>(shape: T, prepare: (value: TomlTable, context: Context) => TomlTable = (value) => value) {
  return z
    .unknown()
    .transform((value, context): unknown => {
      if (isTomlTable(value)) return prepare(value, context);
      fail(context, value === undefined ? "is missing" : `must be a table, not ${describeValue(value)}`);
      return z.NEVER;
    })
    .pipe(z.object(shape) as unknown as z.ZodType<z.output<z.ZodObject<T>>, unknown>);
}

const list = <T extends z.ZodType>(element: T) => z.array(element, { error: (issue) => `must be an array, not ${describeValue(issue.input)}` });
const textList = list(text);
const textTable = z
  .unknown()
  .transform((value, context): Record<string, unknown> => {
    if (isTomlTable(value)) return value;
    fail(context, `must be a table of texts, not ${describeValue(value)}`);
    return z.NEVER;
  })
  .pipe(z.record(z.string(), text));

const nonEmptyText = text.refine((value) => value.length > 0, { error: "must not be empty" });

/** Text that a rule accepts; the rule answers with a phrase on what is wrong. */
const ruledText = (problem: (value: string) => string | null) =>
  text.transform((value, context) => {
    const found = problem(value);
    if (found !== null) fail(context, found);
    return value;
  });

const which = (problem: (value: string) => string | null) => (value: string) => {
  const found = problem(value);
  return found === null ? null : `is ${describeValue(value)}, which ${found}`;
};

const networkMode = word(["no-network", "public", "allowlist"]);
const allowedHosts = textList.transform((hosts, context) =>
  hosts.map((entry, index) => {
    const result = normalizeHost(entry);
    if ("host" in result) return result.host;
    fail(context, `${describeValue(entry)} ${result.problem}`, [index]);
    return entry;
  }),
);
const needAllowlist = (context: Context) => fail(context, 'is valid only beside network_mode = "allowlist"', ["allowed_hosts"]);

const serviceName = text.transform((value, context) => {
  const name = pythonStrip(value);
  // Python's `$` matches before a last line feed, but the name is stripped.
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(name)) fail(context, `must be a compose service name, not ${describeValue(value)}`);
  return name;
});

const healthcheck = table({
  command: text,
  interval_sec: float.optional(),
  timeout_sec: float.optional(),
  start_period_sec: float.optional(),
  start_interval_sec: float.optional(),
  retries: integer.optional(),
});

const mcpServer = table({
  name: text,
  transport: word(["stdio", "sse", "streamable-http"], (value) => (value === "http" ? "streamable-http" : value)).optional(),
  url: text.optional(),
  command: text.optional(),
  args: textList.optional(),
  headers: textTable
    .transform((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        const problem = headerProblem(name, value);
        if (problem !== null) fail(context, problem, [name]);
      }
      return headers;
    })
    .optional(),
}).transform((server, context) => {
  const transport = server.transport ?? "sse";
  if (transport !== "stdio" && !server.url) fail(context, `needs url, because its transport is ${transport}`);
  if (transport === "stdio" && !server.command) fail(context, "needs command, because its transport is stdio");
  const { headers, ...rest } = server;
  const kept = headers !== undefined && Object.keys(headers).length > 0 ? headers : undefined;
  if (transport === "stdio" && kept) fail(context, "are only taken by HTTP transports", ["headers"]);
  return kept ? { ...rest, headers: kept } : rest;
});

const tpu = table({
  type: nonEmptyText,
  topology: text.transform((value, context) => {
    const topology = pythonStrip(value);
    if (!/^[1-9]\p{Nd}*(?:x[1-9]\p{Nd}*)+$/u.test(topology)) fail(context, `must be sizes joined by x, as in 2x4, not ${describeValue(value)}`);
    return topology;
  }),
});

/** The old `memory` and `storage` texts become `memory_mb` and `storage_mb`. */
function migrateSizes(value: TomlTable, context: Context): TomlTable {
  const result = { ...value };
  for (const [old, current] of [
    ["memory", "memory_mb"],
    ["storage", "storage_mb"],
  ] as const) {
    const size = value[old];
    delete result[old];
    if (typeof size !== "string") continue;
    const megabytes = sizeInMegabytes(size);
    if (megabytes === null) fail(context, `must be a number with G, M or K, as in 2G, not ${describeValue(size)}`, [old]);
    else if (!(current in value)) result[current] = megabytes;
    else if (!equalsNumber(value[current], megabytes)) {
      fail(context, `= ${describeValue(size)} (${megabytes} MB) contradicts ${current} = ${describeValue(value[current])}`, [old]);
    }
  }
  return result;
}

const equalsNumber = (value: TomlValue | undefined, number: number) =>
  (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") && Number(value) === number;

const environment = table(
  {
    network_mode: networkMode.optional(),
    allowed_hosts: allowedHosts.optional(),
    build_timeout_sec: float.optional(),
    docker_image: text.optional(),
    os: word(["linux", "windows"], (value) => value.toLowerCase()).optional(),
    cpus: processorCount.optional(),
    memory_mb: integer.optional(),
    storage_mb: integer.optional(),
    gpus: integer.optional(),
    gpu_types: textList.optional(),
    tpu: tpu.optional(),
    mcp_servers: list(mcpServer).optional(),
    env: textTable.optional(),
    skills_dir: text.optional(),
    healthcheck: healthcheck.optional(),
    workdir: text.optional(),
    allow_internet: boolean.optional(),
  },
  migrateSizes,
).transform((value, context) => {
  const { allow_internet, ...rest } = value;
  if ((rest.network_mode ?? "public") !== "allowlist" && (rest.allowed_hosts ?? []).length > 0) needAllowlist(context);
  if (allow_internet === undefined || rest.network_mode !== undefined || rest.allowed_hosts !== undefined) return rest;
  return { ...rest, network_mode: allow_internet ? ("public" as const) : ("no-network" as const) };
});

const phase = { network_mode: networkMode.optional(), allowed_hosts: allowedHosts.optional() };

/** On a phase, allowed hosts need the mode beside them, even an empty list. */
function checkPhase(value: { network_mode?: string | undefined; allowed_hosts?: string[] | undefined }, context: Context): void {
  const hosts = value.allowed_hosts;
  if (hosts !== undefined && (value.network_mode === undefined || (value.network_mode !== "allowlist" && hosts.length > 0))) needAllowlist(context);
}

const agent = table({ ...phase, timeout_sec: float.optional(), user: textOrInteger.optional() }).transform((value, context) => {
  checkPhase(value, context);
  return value;
});

const verifier = table({
  ...phase,
  timeout_sec: float.optional(),
  env: textTable.optional(),
  user: textOrInteger.optional(),
  environment_mode: word(["shared", "separate"]).optional(),
  environment: environment.optional(),
  collect: list(table({ command: text, service: serviceName.optional(), timeout_sec: float.optional(), user: textOrInteger.optional() })).optional(),
}).transform((value, context) => {
  checkPhase(value, context);
  if (value.environment_mode === "shared" && value.environment !== undefined) {
    fail(context, 'is "shared", which contradicts [verifier.environment]; leave one out', ["environment_mode"]);
  }
  return value;
});

const artifactTable = table({
  source: ruledText(which(artifactSourceProblem)),
  destination: text
    .transform((value, context) => {
      if (value === "") return null;
      const problem = which(artifactDestinationProblem)(value);
      if (problem !== null) fail(context, problem);
      return value;
    })
    .optional(),
  exclude: textList.optional(),
  service: serviceName.optional(),
}).transform((value, context) => {
  if (value.service !== undefined && value.service !== "main" && !isAbsoluteContainerPath(value.source)) {
    fail(context, `must be an absolute path, because it is collected from the service ${value.service}`, ["source"]);
  }
  return value;
});

const artifact = z.unknown().transform((value, context): string | z.output<typeof artifactTable> => {
  if (typeof value === "string") {
    const problem = which(artifactSourceProblem)(value);
    if (problem !== null) fail(context, problem);
    return value;
  }
  if (!isTomlTable(value)) {
    fail(context, `must be a path or a table with source, not ${describeValue(value)}`);
    return z.NEVER;
  }
  const result = artifactTable.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) fail(context, issue.message, issue.path as (string | number)[]);
  return z.NEVER;
});

const minReward = z.unknown().transform((value, context): number | Record<string, number> => {
  const result = z.union([float, z.record(z.string(), float)]).safeParse(value);
  if (result.success) return result.data;
  fail(context, `must be a number or a table of numbers, not ${describeValue(value)}`);
  return z.NEVER;
});

const step = table({
  name: ruledText(which(stepNameProblem)),
  agent: agent.optional(),
  verifier: verifier.optional(),
  min_reward: minReward.optional(),
  healthcheck: healthcheck.optional(),
  artifacts: list(artifact).optional(),
});

const steps = list(step).transform((value, context) => {
  const seen = new Map<string, string>();
  value.forEach((entry, index) => {
    const key = stepNameKey(entry.name);
    const earlier = seen.get(key);
    if (earlier !== undefined)
      fail(context, `is ${describeValue(entry.name)}, the same folder as the earlier step ${describeValue(earlier)}`, [index, "name"]);
    seen.set(key, entry.name);
  });
  return value;
});

const packageInfo = table({
  name: ruledText((value) =>
    // Python's `$` also matches before a last line feed.
    /^[a-zA-Z0-9][a-zA-Z0-9._-]*\/[a-zA-Z0-9][a-zA-Z0-9._-]*\n?$/.test(value) && !value.includes("..")
      ? null
      : `must be org/name in letters, digits, dots, hyphens and underscores, without \`..\`, not ${describeValue(value)}`,
  ),
  version: nonEmptyText.optional(),
  description: text.optional(),
  authors: list(table({ name: text, email: text.optional() })).optional(),
  keywords: textList.optional(),
});

const metadata = z.unknown().transform((value, context): TomlTable => {
  if (isTomlTable(value)) return value;
  fail(context, `must be a table, not ${describeValue(value)}`);
  return z.NEVER;
});

/** `version` is the old name of `schema_version`. */
function renameVersion(value: TomlTable): TomlTable {
  const { version, ...rest } = value;
  return version === undefined || "schema_version" in rest ? rest : { ...rest, schema_version: version };
}

export const taskConfigSchema = table(
  {
    schema_version: text.optional(),
    task: packageInfo.optional(),
    metadata: metadata.optional(),
    verifier: verifier.optional(),
    agent: agent.optional(),
    environment: environment.optional(),
    solution: table({ env: textTable.optional() }).optional(),
    source: text.optional(),
    multi_step_reward_strategy: word(["mean", "final"]).optional(),
    steps: steps.optional(),
    artifacts: list(artifact).optional(),
  },
  renameVersion,
);

export type TaskConfig = z.output<typeof taskConfigSchema>;
export type EnvironmentConfig = NonNullable<TaskConfig["environment"]>;
export type StepConfig = NonNullable<TaskConfig["steps"]>[number];
