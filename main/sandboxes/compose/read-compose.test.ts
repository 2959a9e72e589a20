import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ComposeProject, ComposeService } from "./project.ts";
import { readCompose } from "./read-compose.ts";

let root: string;
let file: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "of-compose-"));
  await mkdir(join(root, "environment", "web"), { recursive: true });
  file = join(root, "environment", "docker-compose.yaml");
  for (const folder of ["", "web"]) await writeFile(join(root, "environment", folder, "Dockerfile"), "FROM scratch\n");
  await writeFile(join(root, "environment", "web", "app.env"), '# comment\nA=1\nexport B="two words"\nC=three # said\n');
});
afterEach(() => rm(root, { recursive: true, force: true }));

type Variables = Readonly<Record<string, string | undefined>> | null;

async function problemsOf(text: string, variables: Variables = {}): Promise<readonly string[]> {
  await writeFile(file, text);
  return (await readCompose({ file, root, variables })).problems.map(({ line, message }) => `${line} ${message}`);
}

async function projectOf(text: string, variables: Variables = {}): Promise<ComposeProject> {
  await writeFile(file, text);
  const { project, problems } = await readCompose({ file, root, variables });
  if (project === null) throw new Error(JSON.stringify(problems));
  return project;
}

async function serviceOf(text: string, name: string, variables: Variables = {}): Promise<ComposeService> {
  const service = (await projectOf(text, variables)).services.find((one) => one.name === name);
  if (service === undefined) throw new Error(`no service ${name}`);
  return service;
}

const braced = (inner: string): string => ["$", "{", inner, "}"].join("");

it("reads what tasks use", async () => {
  const project = await projectOf(
    `
x-common: &common
  restart: unless-stopped
  environment: { LEVEL: 1.10, DEBUG: true, "FROM_OUTSIDE": }
version: "3.8"
services:
  main:
    build: { context: "${braced("CONTEXT_DIR")}" }
    image: ${braced("MAIN_IMAGE_NAME")}
    command: ["sh", "-c", "sleep infinity"]
    volumes: ["${braced("HOST_VERIFIER_LOGS_PATH")}:${braced("ENV_VERIFIER_LOGS_PATH")}"]
    depends_on: { web: { condition: service_healthy }, seed: { condition: service_completed_successfully } }
    deploy: { resources: { limits: { cpus: "${braced("CPUS")}1.5", memory: 512M } } }
  seed:
    image: local/seed
    command: sh -c "echo 'a b' > /data/x"
    volumes: [data:/data]
    depends_on: [web]
  web:
    <<: *common
    build:
      context: ./web
      args: [KIND=small]
      target: run
    env_file: web/app.env
    ports: ["8080:80"]
    container_name: web-one
    healthcheck: { test: "curl -f localhost", interval: 2s, retries: 5, start_period: 1m }
    networks: { back: { aliases: [api] } }
    volumes: [data:/data:ro, ./web:/etc/web:ro, { type: tmpfs, target: /cache }, /var/lib/x]
    tmpfs: /run
    user: "1000:1000"
    mem_limit: 256m
    cap_drop: [ALL]
    ulimits: { nofile: { soft: 10, hard: 20 } }
    extra_hosts: ["old.name=10.0.0.1"]
  later: { image: x, profiles: [debug] }
networks: { back: { driver: bridge } }
volumes: { data: }
`,
    { FROM_OUTSIDE: "yes" },
  );
  expect(project.services.map(({ name }) => name)).toEqual(["web", "seed", "main"]);
  expect([project.networks, project.volumes]).toEqual([["back", "default"], ["data"]]);
  const [web, seed, main] = project.services;
  expect(web).toMatchObject({
    image: { kind: "build", contextFolder: join(root, "environment/web"), dockerfile: "Dockerfile", args: { KIND: "small" }, target: "run" },
    environment: { A: "1", B: "two words", C: "three", LEVEL: "1.10", DEBUG: "true", FROM_OUTSIDE: "yes" },
    networks: [{ name: "back", aliases: ["web", "web-one", "api"] }],
    healthcheck: { test: ["CMD-SHELL", "curl -f localhost"], intervalMs: 2000, timeoutMs: null, startPeriodMs: 60_000, retries: 5 },
    packageMounts: [{ hostPath: join(root, "environment/web"), target: "/etc/web", readOnly: true }],
    tmpfs: { "/run": "", "/cache": "" },
    user: "1000:1000",
    memoryBytes: 256 * 1024 ** 2,
    capabilities: { add: [], drop: ["ALL"] },
    ulimits: [{ Name: "nofile", Soft: 10, Hard: 20 }],
    extraHosts: ["old.name:10.0.0.1"],
    restart: "unless-stopped",
  });
  expect(web?.volumes.map(({ source, target, readOnly }) => [source, target, readOnly])).toEqual([
    ["data", "/data", true],
    [null, "/var/lib/x", false],
  ]);
  expect(seed).toMatchObject({ command: ["sh", "-c", "echo 'a b' > /data/x"], networks: [{ name: "default", aliases: ["seed"] }] });
  expect(main).toMatchObject({ image: { kind: "build", contextFolder: join(root, "environment") }, cpus: 1.5, memoryBytes: 512 * 1024 ** 2 });
  expect(main).toMatchObject({ packageMounts: [], volumes: [], capabilities: { add: [] } });
});

it("adds main when the file names only what stands beside it", async () => {
  const project = await projectOf("services:\n  db:\n    image: local/db\n");
  expect(project.services.map(({ name, image }) => [name, image])).toEqual([
    ["main", null],
    ["db", { kind: "image", reference: "local/db" }],
  ]);
});

it("keeps dollar signs that are no variables", async () => {
  const db = await serviceOf('services:\n  db:\n    image: x\n    environment:\n      HASH: $2b$12$Pg8A.R2\n      SHELL: "$$HOME"\n', "db");
  expect(db.environment).toEqual({ HASH: "$2b$12$Pg8A.R2", SHELL: "$HOME" });
});

it.each([
  [
    "services:\n  db:\n    image: x\n    privileged: true\n",
    "4 services.db.privileged: a privileged container could do everything on this machine; remove it.",
  ],
  [
    "services:\n  db:\n    image: x\n    devices: [/dev/kvm]\n",
    "4 services.db.devices: cannot be had in a rollout; take it out of docker-compose.yaml.",
  ],
  [
    "services:\n  db:\n    image: x\n    network_mode: host\n",
    "4 services.db.network_mode: must be none or service:NAME; others would reach out of the rollout.",
  ],
  ["services:\n  db:\n    image: x\n    volumes:\n      - /etc:/host:ro\n", "5 services.db.volumes[0]: /etc lies outside the task package."],
  ["services:\n  db:\n    image: x\n    volumes: [../../x:/y]\n", "4 services.db.volumes[0]: ../../x lies outside the task package."],
  ["services:\n  db:\n    image: x\n    volumes: [./none:/y]\n", "4 services.db.volumes[0]: there is no ./none."],
  ["services:\n  db:\n    image: x\n    volumes: [data:/y]\n", "4 services.db.volumes[0]: there is no volume data in this file."],
  ["services:\n  db:\n    image: x\n    cap_add: [SYS_ADMIN]\n", /^4 services\.db\.cap_add: SYS_ADMIN is not given; only CHOWN, /],
  ["services:\n  db:\n    command: x\n", "3 services.db: has neither image nor build."],
  ["services:\n  db:\n    build: ../web2\n", "3 services.db.build: there is no ../web2."],
  ["services:\n  db:\n    build: { context: web, dockerfile: none }\n", "3 services.db.build: there is no none."],
  ["services:\n  db:\n    image: x\n    mem_limit: much\n", "4 services.db.mem_limit: must be a size such as 512m."],
  ["services:\n  db:\n    image: x\n    depends_on: [cache]\n", "4 services.db.depends_on: there is no service cache, or it belongs to a profile."],
  ["services:\n  a: { image: x, depends_on: [b] }\n  b: { image: x, depends_on: [a] }\n", "2 services.a: services need each other: a → b → a."],
  ["services:\n  a:\n    image: x\n    platform: linux/s390x\n", /^4 services\.a\.platform: is not this machine's, linux\/a/],
  ["services:\n  a:\n    image: x\n    scale: 2\n", "4 services.a.scale: must be 1: a service runs once."],
  ["services:\n  a:\n    image: x\n    extra_hosts: [host:host-gateway]\n", /^4 services\.a\.extra_hosts: host-gateway is this machine/],
  ["services:\n  a: { image: x }\nsecrets:\n  s: { file: x }\n", "4 secrets: secrets are not supported; mount a file of the package read-only."],
  ["services:\n  a: { image: x\n", /^\d This is not valid YAML/],
  ["volumes: {}\n", /^1 services: /],
  [`services:\n  a:\n    image: ${braced("TAG:?name one")}\n`, "3 TAG must be set: name one"],
])("says by line what cannot be: %j", async (text, problem) => {
  const problems = await problemsOf(text);
  expect(problems).toHaveLength(1);
  if (typeof problem === "string") expect(problems[0]).toBe(problem);
  else expect(problems[0]).toMatch(problem);
});

it("follows links only where they stay in the package", async () => {
  await symlink("/etc", join(root, "environment", "out"));
  expect(await problemsOf("services:\n  db:\n    image: x\n    volumes: [./out:/y]\n")).toEqual([
    "4 services.db.volumes[0]: ./out lies outside the task package.",
  ]);
});

it("judges nothing that depends on variables which are not known yet", async () => {
  const text = `services:\n  a:\n    image: ${braced("IMAGE")}\n    mem_limit: ${braced("SIZE")}\n    volumes: ["${braced("DATA")}:/data"]\n    cpus: ${braced("N:?x")}\n`;
  expect(await problemsOf(text, null)).toEqual([]);
  expect((await problemsOf(text, {})).length).toBeGreaterThan(0);
});
