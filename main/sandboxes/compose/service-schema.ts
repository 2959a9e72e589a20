/** The keys of a service, in the forms that compose allows, and what they mean. */
import { posix } from "node:path";
import { z } from "zod";
import { bytesOf, millisecondsOf, shellWords } from "./compose-values.ts";

const text = z.union([z.string(), z.number(), z.boolean()], { error: "must be a text" }).transform(String);
const texts = z.union([text.transform((one) => [one]), z.array(text)], { error: "must be a text or a list of texts" });
const flag = z
  .union([z.boolean(), z.enum(["true", "false"])], { error: "must be true or false" })
  .transform((value) => value === true || value === "true");
const whole = text.refine((value) => /^-?\d+$/.test(value), { error: "must be a whole number" }).transform(Number);
const amount = text.refine((value) => Number.isFinite(Number(value)) && Number(value) > 0, { error: "must be a number above 0" }).transform(Number);
const bytes = text.transform((value, context) => bytesOf(value) ?? refuse(context, "must be a size such as 512m"));
const duration = text.transform((value, context) => millisecondsOf(value) ?? refuse(context, "must be a time such as 1m30s"));
const command = z.union([text.transform((line, context) => shellWords(line) ?? refuse(context, "has a quote that is not closed")), z.array(text)], {
  error: "must be a text or a list of texts",
});

function refuse(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}

/** `NAME=value` lines or a table. Null = as it is where the workbench runs, if it is set there. */
const variables = z
  .union([z.array(text), z.record(z.string(), z.union([text, z.null()]))], { error: "must be a list of NAME=value or a table" })
  .transform((value): Readonly<Record<string, string | null>> => {
    if (!Array.isArray(value)) return value;
    return Object.fromEntries(
      value.map((line): [string, string | null] => {
        const at = line.indexOf("=");
        return at < 0 ? [line, null] : [line.slice(0, at), line.slice(at + 1)];
      }),
    );
  });

const buildTable = z.strictObject({
  context: text.optional(),
  dockerfile: text.optional(),
  args: variables.optional(),
  target: text.optional(),
  labels: z.unknown().optional(),
  tags: z.unknown().optional(),
  pull: z.unknown().optional(),
  no_cache: z.unknown().optional(),
});

const build = z
  .union([text.transform((context): z.infer<typeof buildTable> => ({ context })), buildTable], {
    error: "must be a folder, or a table with context, dockerfile, args and target",
  })
  .transform(({ context = ".", dockerfile = "Dockerfile", args = {}, target = null }) => ({ context, dockerfile, args, target }));

const condition = z.enum(["service_started", "service_healthy", "service_completed_successfully"], {
  error: "must be service_started, service_healthy or service_completed_successfully",
});
export type Condition = z.infer<typeof condition>;

const dependsOn = z
  .union([
    z.array(text),
    z.record(z.string(), z.strictObject({ condition: condition.optional(), required: flag.optional(), restart: flag.optional() })),
  ])
  .transform((value): readonly { readonly service: string; readonly condition: Condition; readonly required: boolean }[] =>
    Array.isArray(value)
      ? value.map((service) => ({ service, condition: "service_started", required: true }))
      : Object.entries(value).map(([service, { condition: wanted = "service_started", required = true }]) => ({
          service,
          condition: wanted,
          required,
        })),
  );

const healthcheck = z.strictObject({
  test: z.union([text, z.array(text)]).optional(),
  interval: duration.optional(),
  timeout: duration.optional(),
  start_period: duration.optional(),
  start_interval: duration.optional(),
  retries: whole.optional(),
  disable: flag.optional(),
});

const networks = z
  .union([
    z.array(text),
    z.record(z.string(), z.union([z.null(), z.strictObject({ aliases: z.array(text).optional(), priority: z.unknown().optional() })])),
  ])
  .transform((value): readonly { readonly name: string; readonly aliases: readonly string[] }[] =>
    Array.isArray(value)
      ? value.map((name) => ({ name, aliases: [] }))
      : Object.entries(value).map(([name, settings]) => ({ name, aliases: settings?.aliases ?? [] })),
  );

const longVolume = z.strictObject({
  type: z.enum(["bind", "volume", "tmpfs"]),
  source: text.optional(),
  target: text,
  read_only: flag.optional(),
  bind: z.unknown().optional(),
  volume: z.unknown().optional(),
  tmpfs: z.unknown().optional(),
  consistency: z.unknown().optional(),
});

export interface ServiceVolume {
  readonly type: "bind" | "volume" | "tmpfs";
  /** Null = a volume without a name. */
  readonly source: string | null;
  readonly target: string;
  readonly readOnly: boolean;
}

const volumes = z.array(
  z
    .union(
      [text.transform((line, context) => shortVolume(line) ?? refuse(context, "must be source:target or target, the target absolute")), longVolume],
      {
        error: "must be source:target, or a table with type bind, volume or tmpfs, source, target and read_only",
      },
    )
    .transform((value): ServiceVolume => {
      if ("readOnly" in value) return value;
      const { type, source = null, target, read_only: readOnly = false } = value;
      return { type, source, target: posix.normalize(target), readOnly };
    }),
);

function shortVolume(line: string): ServiceVolume | null {
  const [first = "", second, options = "", ...rest] = line.split(":");
  const target = second ?? first;
  if (rest.length > 0 || !target.startsWith("/")) return null;
  const source = second === undefined ? null : first;
  const type = source !== null && /^[./~]/.test(source) ? "bind" : "volume";
  return { type, source, target: posix.normalize(target), readOnly: options.split(",").includes("ro") };
}

const limits = z.strictObject({ cpus: amount.optional(), memory: bytes.optional(), pids: whole.optional() });
const deploy = z.strictObject({
  resources: z.strictObject({ limits: limits.optional(), reservations: limits.optional() }).optional(),
  replicas: whole.refine((count) => count === 1, { error: "must be 1: a service runs once" }).optional(),
  mode: z.unknown().optional(),
  restart_policy: z.unknown().optional(),
  labels: z.unknown().optional(),
});

const hosts = z
  .union([z.array(text), z.record(z.string(), texts)])
  .transform((value) =>
    (Array.isArray(value) ? value : Object.entries(value).flatMap(([name, addresses]) => addresses.map((address) => `${name}:${address}`))).map(
      (line) => line.replace("=", ":"),
    ),
  );

const ulimits = z
  .record(z.string(), z.union([whole, z.strictObject({ soft: whole, hard: whole })]))
  .transform((value) =>
    Object.entries(value).map(([Name, limit]) =>
      typeof limit === "number" ? { Name, Soft: limit, Hard: limit } : { Name, Soft: limit.soft, Hard: limit.hard },
    ),
  );

const envFiles = z
  .union([texts, z.array(z.union([text, z.strictObject({ path: text, required: flag.optional(), format: z.unknown().optional() })]))])
  .transform((value) =>
    value.map((entry) => (typeof entry === "string" ? { path: entry, required: true } : { path: entry.path, required: entry.required ?? true })),
  );

/** Without meaning for a rollout: what they ask for is there anyway, or concerns only who uses the file by hand. */
export const harmlessKeys: ReadonlySet<string> = new Set(
  "annotations attach cpu_shares develop expose labels logging mem_reservation mem_swappiness memswap_limit oom_kill_disable ports pull_policy stop_grace_period stop_signal".split(
    " ",
  ),
);

const architecture = process.arch === "x64" ? "amd64" : process.arch;

export const serviceSchema = z.strictObject({
  container_name: text.optional(),
  profiles: texts.optional(),
  image: text.optional(),
  build: build.optional(),
  environment: variables.optional(),
  env_file: envFiles.optional(),
  command: command.optional(),
  entrypoint: command.optional(),
  depends_on: dependsOn.optional(),
  links: z
    .array(text.refine((link) => !link.includes(":"), { error: "is a link with another name; give the service an alias in its network" }))
    .optional(),
  healthcheck: healthcheck.optional(),
  networks: networks.optional(),
  network_mode: text
    .refine((mode) => mode === "none" || mode.startsWith("service:"), {
      error: "must be none or service:NAME; others would reach out of the rollout",
    })
    .optional(),
  volumes: volumes.optional(),
  tmpfs: texts.optional(),
  user: text.optional(),
  working_dir: text.optional(),
  hostname: text.optional(),
  mem_limit: bytes.optional(),
  cpus: amount.optional(),
  pids_limit: whole.optional(),
  deploy: deploy.optional(),
  extra_hosts: hosts.optional(),
  init: flag.optional(),
  read_only: flag.optional(),
  tty: flag.optional(),
  stdin_open: flag.optional(),
  restart: text.optional(),
  shm_size: bytes.optional(),
  ulimits: ulimits.optional(),
  cap_add: z.array(text).optional(),
  cap_drop: z.array(text).optional(),
  privileged: flag.refine((value) => !value, { error: "a privileged container could do everything on this machine; remove it" }).optional(),
  security_opt: z
    .array(text.refine((option) => /^no-new-privileges(:true)?$/.test(option), { error: "only no-new-privileges can be asked for" }))
    .optional(),
  platform: text
    .refine((platform) => [undefined, architecture].includes(platform.split("/")[1]), { error: `is not this machine's, linux/${architecture}` })
    .optional(),
  scale: whole.refine((count) => count === 1, { error: "must be 1: a service runs once" }).optional(),
});

export type ServiceKeys = z.infer<typeof serviceSchema>;

const optional = z.record(z.string(), z.unknown()).optional();

/** Networks or volumes by name; one with the engine's defaults says nothing. */
function declared<Entry extends z.ZodType>(entry: Entry) {
  return z.union([z.null(), z.record(z.string(), z.union([z.null(), entry]))]).optional();
}

export const projectSchema = z.strictObject({
  services: z.record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, { error: "is no name for a service" }), z.unknown()),
  version: z.unknown().optional(),
  name: z.unknown().optional(),
  networks: declared(
    z.strictObject({
      driver: z.enum(["bridge", "default"], { error: "must be bridge" }).optional(),
      internal: z.unknown().optional(),
      attachable: z.unknown().optional(),
      labels: z.unknown().optional(),
      name: z.unknown().optional(),
    }),
  ),
  volumes: declared(
    z.strictObject({
      driver: z.enum(["local"], { error: "must be local" }).optional(),
      labels: z.unknown().optional(),
      name: z.unknown().optional(),
    }),
  ),
  configs: optional.refine((value) => value === undefined, { error: "configs are not supported; mount a file of the package read-only" }),
  secrets: optional.refine((value) => value === undefined, { error: "secrets are not supported; mount a file of the package read-only" }),
});

/** What a fault of a schema says, without a full stop. */
export function sentenceOf(issue: z.core.$ZodIssue): string {
  // Of the forms that were tried, the one that came nearest.
  if (issue.code === "invalid_union" && issue.message === "Invalid input") {
    const [nearest] = issue.errors.flat();
    if (nearest !== undefined)
      return nearest.path.length === 0 ? sentenceOf(nearest) : `${nearest.path.map(String).join(".")} ${sentenceOf(nearest)}`;
  }
  return issue.message.replace(/\.$/, "");
}
