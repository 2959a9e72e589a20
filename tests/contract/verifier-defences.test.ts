/** Grading in real sandboxes: what is earned is given, the script's surroundings are clean, and no broken check becomes a 0. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SandboxProvider } from "../../main/sandboxes/index.ts";
import { layOutTask, sandboxRequest } from "../../main/tasks/index.ts";
import { runVerifier, type VerifierResult } from "../../main/verifiers/index.ts";
import { readyProviders, type Scratch, scratchFolder, writePackage } from "./task-packages.ts";

let scratch: Scratch;
/** A container whose image names no account: the agent is its root, without capabilities. */
interface Box {
  readonly provider: SandboxProvider;
  readonly asRoot: boolean;
}
let boxes: readonly Box[] = [];
let runs = 0;

beforeAll(async () => {
  scratch = await scratchFolder();
  const providers = await readyProviders(scratch.folder, ["local", "docker"]);
  boxes = providers.flatMap((provider) => (provider.kind === "docker" ? [true, false] : [false]).map((asRoot) => ({ provider, asRoot })));
});
afterAll(() => scratch.dispose());

const dockerfile = "FROM openforge/base:1\nRUN chown 1000:1000 /app\nWORKDIR /app\nUSER 1000:1000\n";
const strict = '#!/bin/sh\nif [ "$(cat /app/answer.txt)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n';

interface Play {
  /** What the agent runs; its processes live on as they please. */
  readonly agent?: string;
  readonly test?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly toml?: string;
}

async function play(
  { provider, asRoot }: Box,
  { agent, test: testScript, files, toml }: Play,
): Promise<VerifierResult & { readonly output: string }> {
  runs += 1;
  const folder = join(scratch.folder, `run-${runs}`);
  const task = await writePackage(join(folder, "task"), {
    "task.toml": `[environment]\nworkdir = "/app"\nnetwork_mode = "no-network"\n${toml ?? ""}`,
    "instruction.md": "Write 42 to /app/answer.txt.\n",
    [asRoot ? "environment/none" : "environment/Dockerfile"]: asRoot ? "" : dockerfile,
    "tests/test.sh": testScript ?? strict,
    ...files,
  });
  const outputFolder = join(folder, "output");
  const link = { rolloutId: `defences-${runs}`, ownerId: "verifier-defences", proxySocket: null, variables: {} };
  const sandbox = await provider.create(sandboxRequest(task, provider.kind, link), () => undefined);
  try {
    await layOutTask(sandbox, task, {});
    await sandbox.writeFile("/home/agent/.keep", new Uint8Array());
    if (agent !== undefined) {
      const command = ["/bin/bash", "-c", agent];
      await sandbox.exec({ command, env: { HOME: "/home/agent" }, timeoutMs: 60_000, outputLimitBytes: 100_000 });
    }
    const result = await runVerifier(sandbox, task, {
      outputFolder,
      environment: { LEVEL: "3" },
      provider,
      ownerId: link.ownerId,
      rolloutId: link.rolloutId,
    });
    return { ...result, output: await readFile(join(outputFolder, "test-stdout.txt"), "utf8") };
  } finally {
    await sandbox.destroy();
  }
}

function inEverySandbox(name: string, body: (box: Box) => Promise<void>): void {
  test(name, async (context) => {
    if (boxes.length === 0) context.skip("this machine can run no sandbox");
    for (const box of boxes) await body(box);
  });
}

describe("what an agent can prepare (the attacks themselves: forging.test.ts)", () => {
  inEverySandbox("leaves nothing in the environment of the test script", async (box) => {
    const result = await play(box, {
      toml:
        '[environment.env]\nPYTHONPATH = "/app"\nNODE_OPTIONS = "--require /app/x.cjs"\nPATH = "/app/bin"\nPLAIN = "kept"\n[verifier.env]\nLEVEL = "$' +
        '{LEVEL:-2}"\n',
      test: '#!/bin/sh\nenv | sort; pwd; ls -A "$HOME"; echo 0 > /logs/verifier/reward.txt\n',
    });
    expect(result.output).toMatch(/^PLAIN=kept$/m);
    expect(result.output).toMatch(/^LEVEL=3$/m);
    expect(result.output).toMatch(/^OPENFORGE_WORKDIR=\/app$/m);
    expect(result.output).not.toMatch(/^(PYTHONPATH=\/app|NODE_OPTIONS=|LD_\w+=|BASH_ENV=)/m);
    expect(/^PATH=(.*)$/m.exec(result.output)?.[1]?.split(":")).toSatisfy((folders: readonly string[]) =>
      folders.every((folder) => /^\/(usr|bin|sbin|opt\/openforge)/.test(folder)),
    );
  });
});

describe("a reward is what the verifier said, or none", () => {
  inEverySandbox("earned is earned", async (box) => {
    expect(await play(box, { agent: "echo 42 > /app/answer.txt" })).toMatchObject({
      status: "succeeded",
      reward: 1,
      cause: null,
      detail: null,
      exitCode: 0,
    });
  });

  const failures: Readonly<Record<string, { readonly test: string; readonly cause: string; readonly detail: RegExp }>> = {
    "no file": { test: "true", cause: "reward-missing", detail: /neither reward.json nor reward.txt/ },
    "an empty file": { test: ": > /logs/verifier/reward.txt", cause: "reward-missing", detail: /empty/ },
    "a link": { test: "echo 1 > /tmp/r; ln -s /tmp/r /logs/verifier/reward.txt", cause: "reward-malformed", detail: /link/ },
    "a pipe": { test: "mkfifo /logs/verifier/reward.json", cause: "reward-malformed", detail: /no plain file/ },
    "a folder": { test: "mkdir /logs/verifier/reward.txt", cause: "reward-malformed", detail: /no plain file/ },
    "a huge file": {
      test: "head -c 100000 /dev/zero | tr '\\0' 1 > /logs/verifier/reward.txt",
      cause: "reward-malformed",
      detail: /larger than 64 KiB/,
    },
    NaN: { test: "echo nan > /logs/verifier/reward.txt", cause: "reward-malformed", detail: /finite/ },
    "two answers": {
      test: `echo 0 > /logs/verifier/reward.txt; echo '{"reward": 1}' > /logs/verifier/reward.json`,
      cause: "reward-malformed",
      detail: /says 1 and .* says 0/,
    },
    "a removed folder": {
      test: "rm -rf /logs/verifier; ln -s /app /logs/verifier; echo 1 > /app/reward.txt",
      cause: "reward-missing",
      detail: /neither/,
    },
    "a missing tool": {
      test: "uvx pytest /tests/t.py; echo $(( $? == 0 )) > /logs/verifier/reward.txt",
      cause: "verifier-broken",
      detail: /tool uvx is not there/,
    },
    "a failed download": {
      test: "false | tar xz; test -e /app/x; echo $(( $? == 0 )) > /logs/verifier/reward.txt",
      cause: "verifier-broken",
      detail: /could not fetch/,
    },
  };
  for (const [name, { test: script, cause, detail }] of Object.entries(failures)) {
    inEverySandbox(`${name} is no reward`, async (box) => {
      const result = await play(box, { test: `#!/bin/bash\n${script}\n` });
      expect(result).toMatchObject({ status: "verifier-failure", reward: null, cause });
      expect(result.detail).toMatch(detail);
    });
  }

  inEverySandbox("time is limited, and what was said is kept", async (box) => {
    const test = "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\necho so far so good\nsleep 600 & sleep 600\n";
    const result = await play(box, { test, toml: "[verifier]\ntimeout_sec = 1\n" });
    expect(result).toMatchObject({ status: "verifier-failure", reward: null, cause: "verifier-timeout", exitCode: null });
    expect(result.output).toContain("so far so good");
  });

  inEverySandbox("what the verifier leaves running changes nothing", async (box) => {
    const test =
      "#!/bin/bash\n(sleep 0.5; while :; do echo 1 > /logs/verifier/reward.txt; done) > /dev/null 2>&1 &\necho 0 > /logs/verifier/reward.txt\n";
    expect(await play(box, { test })).toMatchObject({ status: "failed", reward: 0 });
  });

  inEverySandbox("a test script that names no folder runs in the agent's", async (box) => {
    const test = "#!/bin/sh\n[ -f answer.txt ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n";
    expect(await play(box, { agent: "echo 42 > /app/answer.txt", test })).toMatchObject({ status: "succeeded", reward: 1 });
  });

  inEverySandbox("a verifier's own box sees what was published, and nothing else", async (box) => {
    const result = await play(box, {
      agent: "echo 42 > /app/answer.txt; echo x > /app/secret; echo note > /logs/artifacts/note.txt; mkdir -p /app/deep; echo d > /app/deep/d",
      toml: '[verifier]\nenvironment_mode = "separate"\n',
      test: "#!/bin/sh\nls -R /app /logs/artifacts\n[ ! -e /app/secret ] && [ -e /logs/artifacts/note.txt ] && echo 1 > /logs/verifier/reward.txt\n",
    });
    expect(result).toMatchObject({ status: "succeeded", reward: 1 });
  });
});
