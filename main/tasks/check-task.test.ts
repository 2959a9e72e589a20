import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { checkTask } from "./check-task.ts";
import { type PackageEntry, type PackageFolders, packageFolders } from "./package-folder.test-data.ts";

let folders: PackageFolders;
beforeAll(async () => {
  folders = await packageFolders();
});
afterAll(() => folders.dispose());

const check = async (changes: Readonly<Record<string, PackageEntry>> = {}) => checkTask(await folders.write(changes));
const warnings = async (changes: Readonly<Record<string, PackageEntry>>) => {
  const { valid, faults } = await check(changes);
  expect(valid).toBe(true);
  return faults.map(({ file, line, message }) => `${file}:${line} ${message}`);
};
const withToml = (text: string) => ({ "task.toml": `[environment]\nnetwork_mode = "no-network"\n${text}` });

test("Harbor's verdicts on whole packages", async () => {
  const fixtures = new URL("../../tests/fixtures/harbor/tasks/", import.meta.url).pathname;
  const expected = z
    .record(z.string(), z.object({ accepted: z.boolean(), checksum: z.string().optional(), digest: z.string().optional() }))
    .parse(JSON.parse(readFileSync(`${fixtures}expected.json`, "utf8")));
  for (const [name, { accepted, checksum, digest }] of Object.entries(expected)) {
    const result = await checkTask(`${fixtures}${name}`);
    expect({ name, valid: result.valid, digest: result.digest, checksum: result.task?.checksum }).toEqual({
      name,
      valid: accepted,
      digest: digest ?? null,
      checksum,
    });
    expect(result.faults.filter((fault) => fault.severity === "error")).toHaveLength(accepted ? 0 : 1);
  }
});

test("a path that is no folder is refused with what to give", async () => {
  await expect(checkTask("/nowhere/at/all")).rejects.toMatchObject({ message: "There is no folder /nowhere/at/all.", exitCode: 2 });
});

describe("the task that comes of it", () => {
  test("has Harbor's defaults", async () => {
    const { task, faults } = await check();
    expect(faults).toEqual([]);
    expect(task).toMatchObject({
      name: expect.stringMatching(/^package-\d+$/),
      instruction: "Write 42 to /app/answer.txt.\n",
      description: null,
      family: null,
      agent: { timeoutMs: null, user: null, network: { mode: "no-network", allowedHosts: [], declared: true } },
      verifier: { timeoutMs: 600_000, separate: false, box: null, cwd: "tests", cwdDeclared: false },
      environment: {
        dockerImage: null,
        files: true,
        dockerfile: true,
        compose: false,
        entrypoint: false,
        buildTimeoutMs: 600_000,
        workdir: "/app",
        imageWorkdir: null,
        os: "linux",
        healthcheck: null,
        initialFiles: null,
      },
      steps: [],
      hasSolution: true,
      cheats: [],
      rewardKey: null,
      maxReward: 1,
    });
  });

  test("has what the package says", async () => {
    const { task, faults } = await check({
      "task.toml": `schema_version = "1.4"
artifacts = ["/app/out", { source = "rel", destination = "d" }]
[task]
name = "o/n"
description = "d"
[metadata.openforge]
family = "files"
reward_key = "score"
max_reward = 5
secrets = ["TOKEN"]
verifier_cwd = "workdir"
initial_state = { files = "environment" }
[agent]
timeout_sec = 1.5
user = 1000
network_mode = "allowlist"
allowed_hosts = ["A.example."]
[verifier]
timeout_sec = "90"
user = "root"
environment_mode = "separate"
env = { A = "\${B:-c}" }
[verifier.environment]
docker_image = "judge:1"
network_mode = "no-network"
memory_mb = 10
[environment]
docker_image = "base:1"
network_mode = "public"
cpus = 2.0
[environment.healthcheck]
command = "true"
interval_sec = 0.5
[[environment.mcp_servers]]
name = "m"
url = "http://m"
headers = { Authorization = "Bearer \${TOKEN}" }
`,
      "instruction.md": "<!-- canary 1234 -->\n# CANARY line\n\nDo it.\n",
      "cheats/b/solve.sh": "#!/bin/sh\n",
      "cheats/a/solve.sh": "#!/bin/sh\n",
    });
    expect(faults.map((fault) => fault.message)).toEqual(['verifier.timeout_sec is "90"; it is read as a number. Write the number.']);
    expect(task).toMatchObject({
      name: "o/n",
      description: "d",
      family: "files",
      instruction: "Do it.\n",
      agent: { timeoutMs: 1500, user: "1000", network: { mode: "allowlist", allowedHosts: ["a.example"], declared: true } },
      verifier: {
        timeoutMs: 90_000,
        user: "root",
        env: { A: `\${B:-c}` },
        network: { mode: "public", declared: true },
        separate: true,
        cwd: "workdir",
        cwdDeclared: true,
        box: {
          dockerImage: "judge:1",
          buildFolder: null,
          testsInImage: true,
          network: { mode: "no-network" },
          limits: { memoryMb: 10 },
          workdir: null,
        },
      },
      environment: {
        dockerImage: "base:1",
        cpus: 2,
        initialFiles: "environment",
        healthcheck: { command: "true", intervalMs: 500, timeoutMs: 30_000, retries: 3 },
        mcpServers: [{ name: "m", transport: "sse", url: "http://m", command: null, args: [], headers: { Authorization: `Bearer \${TOKEN}` } }],
      },
      artifacts: [
        { source: "/app/out", destination: null },
        { source: "rel", destination: "d" },
      ],
      cheats: ["a", "b"],
      rewardKey: "score",
      maxReward: 5,
      secrets: ["TOKEN"],
    });
  });

  test("knows the folder that its Dockerfile says, beside what task.toml names", async () => {
    const dockerfile = 'FROM a AS first\nWORKDIR /first\nFROM b\nWORKDIR "/srv/"\nRUN echo \\\n  WORKDIR /no\nWORKDIR site\n';
    const { task } = await check({ ...withToml(""), "environment/Dockerfile": dockerfile });
    expect(task?.environment).toMatchObject({ workdir: null, imageWorkdir: "/srv/site" });
    expect((await check({ ...withToml(""), "environment/Dockerfile": "FROM b\nWORKDIR $HOME\n" })).task?.environment.imageWorkdir).toBeNull();
    const starting = async (text: string) => (await check({ ...withToml(""), "environment/Dockerfile": text })).task?.environment.entrypoint;
    expect(await starting('FROM b\nENTRYPOINT ["/entry.sh"]\n')).toBe(true);
    expect(await starting('FROM b AS a\nENTRYPOINT ["/entry.sh"]\nFROM c\n')).toBe(false);
    expect(await starting("FROM b\nENTRYPOINT x\nENTRYPOINT [ ]\n")).toBe(false);
  });

  test("runs its verifier in the agent's folder only where the tests name that nowhere", async () => {
    const relative = await check({ "tests/test.sh": "#!/bin/sh\nnode /tests/check.mjs\n", "tests/check.mjs": 'readFileSync("answer.txt")' });
    expect(relative.task?.verifier).toMatchObject({ cwd: "workdir", cwdDeclared: false });
    const absolute = await check({ "tests/test.sh": "#!/bin/sh\nnode /tests/check.mjs\n", "tests/check.mjs": 'readFileSync("/app/answer.txt")' });
    expect(absolute.task?.verifier.cwd).toBe("tests");
  });
});

describe("warnings, by file and line", () => {
  test("of keys and values", async () => {
    expect(
      await warnings({
        "task.toml": `version = "9.9"
colour = "blue"
multi_step_reward_strategy = "mean"

[environment]
memory = 4096
storage = "2G"
allow_internet = true
network_mode = "public"
cpus = 0
gpus = "1"
env = { A = "a\${B}", C = "$2b$12$Pg8A.R2" }

[agent]
timeout_sec = -5
`,
      }),
    ).toEqual([
      "task.toml:1 version is the old name of schema_version.",
      'task.toml:1 schema_version "9.9" is not one of 1.0 to 1.4; the file is read as 1.4.',
      "task.toml:2 colour is no key that Harbor knows and is dropped; remove it, or keep it under [metadata].",
      "task.toml:3 multi_step_reward_strategy says nothing here: the task has no steps.",
      'task.toml:6 environment.memory must be a text such as "2G"; 4096 is dropped. Use memory_mb.',
      "task.toml:7 environment.storage is the old form of storage_mb.",
      "task.toml:8 environment.allow_internet is the old form of network_mode and is ignored, because the new form is set too.",
      "task.toml:10 environment.cpus is 0, which limits nothing that makes sense; it is left unset here.",
      'task.toml:11 environment.gpus is "1"; it is read as a number. Write the number.',
      "task.toml:12 The variable in env value A is not filled in, because it is only a part of the value.",
      "task.toml:15 agent.timeout_sec is -5, which limits nothing that makes sense; it is left unset here.",
    ]);
  });

  test("of a package that names no network mode", async () => {
    expect(await warnings({ "task.toml": '\n[environment]\ncpus = 1\nworkdir = "/app"\n' })).toEqual([
      'task.toml:2 The task names no network mode, which means public; say environment.network_mode = "no-network" if it needs none.',
    ]);
  });

  test("of [metadata.openforge]", async () => {
    const text = '[metadata.openforge]\nfamly = "x"\nsplit = 3\nmilestones = [{ name = "a" }]\nmax_reward = 0\nzzz = 1\n';
    expect(await warnings(withToml(text))).toEqual([
      "task.toml:4 metadata.openforge.famly is unknown and ignored; did you mean family?",
      "task.toml:5 metadata.openforge.split must be a text, as in train or test, not 3; it is ignored.",
      "task.toml:6 metadata.openforge.milestones must be an array of tables with the texts name and check, not an array; it is ignored.",
      "task.toml:7 metadata.openforge.max_reward must be a number above 0, not 0; it is ignored.",
      "task.toml:8 metadata.openforge.zzz is no key that the workbench knows; it is ignored.",
    ]);
  });

  test("of files", async () => {
    expect(
      await warnings({
        "instruction.md": "# canary abc\n\n",
        "environment/.harborignore": "*\n",
        "environment/Dockerfile": "FROM base\nRUN pip install requests==2.0 \\\n  numpy\nCOPY tests/test.sh /x/\n",
        "tests/test.sh": "#!/bin/sh\r\n/app/x\n",
        "solution/solve.sh": null,
        "cheats/lazy/notes.txt": "x",
      }),
    ).toEqual([
      "cheats/lazy:1 The cheat lazy has no solve.sh and is not rehearsed.",
      "environment/.harborignore:1 .harborignore works only in tests/ and solution/ folders; move or remove it.",
      "environment/Dockerfile:2 A Python package is installed without an exact version; pin it (name==1.2.3) or install from a requirements file.",
      "environment/Dockerfile:4 COPY puts a grading or solution file into the agent's image, where the agent can read it.",
      "instruction.md:1 The instruction is empty; write what the agent is to do.",
      "task.toml:1 The package has no solution/solve.sh; whether the task can be solved cannot be rehearsed.",
      "tests/test.sh:1 tests/test.sh has Windows line ends; Linux cannot start it.",
    ]);
  });

  test("of a verifier in its own box", async () => {
    expect(
      await warnings({
        "task.toml":
          'artifacts = ["/logs", "/app/a", { source = "/app/b", destination = "app/a/b" }, "/app/a/c"]\n[verifier]\nenvironment_mode = "separate"\n[environment]\nnetwork_mode = "no-network"\n',
        "tests/test.sh":
          "#!/bin/sh\n# /app\npip install pytest==8\ncurl -L https://x.example/y -o /tmp/y\nwget -qO- https://x.example\ncurl https://x.example | bash\n",
      }),
    ).toEqual([
      "task.toml:1 The artifact /logs goes to the same place as /logs/artifacts; the first one is kept.",
      "task.toml:1 The artifact /app/b goes to the same place as /app/a; the first one is kept.",
      "task.toml:1 The artifact /logs overlaps the logs of agent or verifier; choose another place.",
      "tests/test.sh:3 pytest is installed when the verifier runs; put it into the verifier's own image.",
      "tests/test.sh:4 The verifier downloads something when it runs; put it into the verifier's own image.",
      "tests/test.sh:6 The verifier downloads something when it runs; put it into the verifier's own image.",
    ]);
  });

  test("of a compose file", async () => {
    const compose =
      "services:\n  main:\n    privileged: true\n    container_name: main\n  db:\n    cap_add: [NET_ADMIN]\n    ports:\n      - '5432:5432'\n    volumes:\n      - ./data:/data\n      - /etc:/host:ro\n      - cache:/c\nvolumes:\n  cache:\n";
    expect(await warnings({ "environment/docker-compose.yaml": compose })).toEqual([
      "environment/docker-compose.yaml:3 services.main.privileged: a privileged container can do everything on the host; remove it.",
      "environment/docker-compose.yaml:4 services.main.container_name: two rollouts at once collide on a fixed name; remove it.",
      "environment/docker-compose.yaml:6 services.db.cap_add: capabilities are asked for; leave out those that are not needed.",
      "environment/docker-compose.yaml:8 services.db.ports: two rollouts at once collide on a port of the host; remove it.",
      "environment/docker-compose.yaml:10 services.db.volumes[0]: a writable mount lets the container change the host's files; make it read-only or a volume.",
      "environment/docker-compose.yaml:11 services.db.volumes[1]: /etc lies outside the task package.",
    ]);
    expect(await warnings({ "environment/docker-compose.yaml": "services:\n  main: [\n" })).toEqual([
      expect.stringMatching(/^environment\/docker-compose\.yaml:\d+ This is not valid YAML: /),
    ]);
  });
});
