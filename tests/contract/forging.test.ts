/**
 * The forging suite: every case of the table in every kind of sandbox, the container with an account and with root. A sandbox is shared
 * by the cases that leave it fit for others. Where a mess is no attack, honest work beside it earns its 1.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox, SandboxProvider } from "../../main/sandboxes/index.ts";
import { layOutTask, sandboxRequest, type Task } from "../../main/tasks/index.ts";
import { runVerifier, type VerifierResult } from "../../main/verifiers/index.ts";
import { type ForgingCase, forgingCases } from "./forging-cases.ts";
import { readyProviders, type Scratch, scratchFolder, writePackage } from "./task-packages.ts";

const accountDockerfile = "FROM openforge/base:1\nRUN chown 1000:1000 /app\nWORKDIR /app\nUSER 1000:1000\n";
const strict = '#!/bin/sh\nif [ "$(cat /app/answer.txt)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n';
const tidy =
  "chmod -R u+rwX /app /home/agent 2> /dev/null; find /app /home/agent /tmp -mindepth 1 -delete 2> /dev/null; rm -rf /logs/agent/* /logs/artifacts/* /logs/*.left-* /tests.left-*";

let scratch: Scratch;
let providers: readonly SandboxProvider[] = [];
beforeAll(async () => {
  scratch = await scratchFolder();
  providers = await readyProviders(scratch.folder, ["local", "docker"]);
});
afterAll(() => scratch.dispose());

/** The sandbox that cases share, made anew after one that spoiled it. */
class SharedSandbox {
  #sandbox: Sandbox | null = null;
  #made = 0;
  readonly #provider: SandboxProvider;
  readonly ownerId = "forging";
  constructor(provider: SandboxProvider) {
    this.#provider = provider;
  }
  get rolloutId(): string {
    return `forging-${this.#made}`;
  }
  async for(task: Task): Promise<Sandbox> {
    if (this.#sandbox !== null) return this.#sandbox;
    this.#made += 1;
    const link = { rolloutId: this.rolloutId, ownerId: this.ownerId, proxySocket: null, variables: {} };
    this.#sandbox = await this.#provider.create(sandboxRequest(task, this.#provider.kind, link), () => undefined);
    await layOutTask(this.#sandbox, task, {});
    await this.#sandbox.writeFile("/home/agent/.keep", new Uint8Array());
    return this.#sandbox;
  }
  async tidy(spoiled: boolean): Promise<void> {
    if (spoiled) await this.destroy();
    else await this.#sandbox?.exec({ command: ["/bin/bash", "-c", tidy], timeoutMs: 60_000, outputLimitBytes: 1000 });
  }
  async destroy(): Promise<void> {
    const sandbox = this.#sandbox;
    this.#sandbox = null;
    await sandbox?.destroy();
  }
}

async function attempt(shared: SharedSandbox, provider: SandboxProvider, task: Task, agent: string, outputFolder: string): Promise<VerifierResult> {
  const sandbox = await shared.for(task);
  await sandbox.exec({ command: ["/bin/bash", "-c", agent], env: { HOME: "/home/agent" }, timeoutMs: 60_000, outputLimitBytes: 100_000 });
  return runVerifier(sandbox, task, { outputFolder, environment: {}, provider, ownerId: shared.ownerId, rolloutId: shared.rolloutId });
}

test("there are seventy-two, each by a name of its own", () => {
  expect(forgingCases).toHaveLength(72);
  expect(new Set(forgingCases.map(({ name }) => name)).size).toBe(72);
});

for (const [box, kind, asRoot] of [
  ["a local sandbox", "local", false],
  ["a container with an account", "docker", false],
  ["a container whose agent is root", "docker", true],
] as const) {
  describe(`in ${box}`, () => {
    let shared: SharedSandbox | null = null;
    let withstood = 0;
    afterAll(async () => {
      await shared?.destroy();
      if (shared !== null) process.stdout.write(`forging suite in ${box}: ${withstood} of ${forgingCases.length}\n`);
    });

    for (const [index, forging] of forgingCases.entries()) {
      test(forging.name, async (context) => {
        const provider = providers.find((candidate) => candidate.kind === kind);
        if (provider === undefined) return context.skip(`this machine has no ${kind} sandbox`);
        shared ??= new SharedSandbox(provider);
        const folder = join(scratch.folder, `${kind}-${asRoot}-${index}`);
        const task = await writePackage(join(folder, "task"), packageOf(forging, asRoot));
        let tidied = false;
        try {
          const result = await attempt(shared, provider, task, forging.agent, join(folder, "forged"));
          const cause = asRoot ? (forging.causeAsRoot ?? forging.cause) : forging.cause;
          const expected = cause === undefined ? { status: "failed", reward: 0, cause: null } : { status: "verifier-failure", reward: null, cause };
          expect(result, result.detail ?? "").toMatchObject(expected);
          withstood += 1;
          if (forging.noHonestWork !== true && cause === undefined) {
            const honest = await attempt(
              shared,
              provider,
              task,
              `( ${forging.agent}\n); rm -rf /app/answer.txt; echo 42 > /app/answer.txt`,
              join(folder, "honest"),
            );
            expect(honest, honest.detail ?? "").toMatchObject({ status: "succeeded", reward: 1 });
          }
          await shared.tidy(forging.spoils === true);
          tidied = true;
        } finally {
          if (!tidied) await shared.destroy();
        }
      });
    }
  });
}

function packageOf({ test: script, files, toml }: ForgingCase, asRoot: boolean): Readonly<Record<string, string>> {
  return {
    "task.toml": `[environment]\nworkdir = "/app"\nnetwork_mode = "no-network"\n${toml ?? ""}`,
    "instruction.md": "Write 42 to /app/answer.txt.\n",
    [asRoot ? "environment/none" : "environment/Dockerfile"]: asRoot ? "" : accountDockerfile,
    "tests/test.sh": script ?? strict,
    ...files,
  };
}
