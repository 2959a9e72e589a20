/** What an agent can do to get a reward that it did not earn, in real sandboxes: none of it works, and no broken check becomes a 0. */
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
  const link = { rolloutId: `defences-${runs}`, ownerId: "verifier-defences", proxySocket: null };
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

describe("an agent that earned nothing gets 0", () => {
  const forgeries: Readonly<Record<string, string>> = {
    "plants both reward files": `echo 1 > /logs/verifier/reward.txt; echo '{"reward": 1}' > /logs/verifier/reward.json`,
    "leaves a process that goes on writing": `(while :; do echo 1 > /logs/verifier/reward.txt; echo '{"reward": 1}' > /logs/verifier/reward.json; done) > /dev/null 2>&1 &
      setsid nohup bash -c 'trap "" TERM HUP INT; while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.02; done' > /dev/null 2>&1 &`,
    "makes the verifier's folder a link": "rm -rf /logs/verifier; mkdir /app/there; echo 1 > /app/there/reward.txt; ln -s /app/there /logs/verifier",
    "makes the verifier's folder a file": "rm -rf /logs/verifier; echo 1 > /logs/verifier",
    "fills it with what is hard to remove": `mkdir -p /logs/verifier/a/b/c; echo 1 > /logs/verifier/a/b/c/reward.txt; chmod 000 /logs/verifier/a/b/c /logs/verifier/a/b /logs/verifier/a
      mkfifo /logs/verifier/reward.json; ln -s /app /logs/verifier/reward.txt; cd /logs/verifier
      node -e 'for (let i = 0; i < 3000; i += 1) { fs.mkdirSync("deep-deep-deep-deep-deep"); process.chdir("deep-deep-deep-deep-deep"); }'
      cd /tests && node -e 'for (let i = 0; i < 300; i += 1) { fs.mkdirSync("deep-deep-deep-deep-deep"); process.chdir("deep-deep-deep-deep-deep"); }'`,
    "plants tests of its own": `mkdir -p /tests 2> /dev/null; printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' > /tests/test.sh; chmod 555 /tests/test.sh /tests; true`,
    "shadows programs on the search path": `for place in /app /app/bin /home/agent/bin /home/agent/.local/bin /tmp /tmp/bin; do mkdir -p $place
      for tool in cat sh test echo bash node; do printf '#!/bin/sh\\necho 42\\n' > $place/$tool; chmod +x $place/$tool; done; done`,
    "writes start-up files of shells": `for place in /app /home/agent /tmp; do for file in .bashrc .profile .bash_profile .zshrc .env .shrc; do
      echo 'cat() { echo 42; }; export LD_PRELOAD=/app/evil.so PATH=/app:$PATH BASH_ENV=/app/.bashrc' > $place/$file; done; done`,
  };
  for (const [name, agent] of Object.entries(forgeries)) {
    inEverySandbox(name, async (box) => {
      const result = await play(box, { agent });
      expect(result, result.detail ?? "").toMatchObject({ status: "failed", reward: 0, rewards: { reward: 0 }, cause: null });
    });
  }

  inEverySandbox("replaces the system's own programs", async (box) => {
    const agent = `for tool in /usr/bin/cat /bin/sh /usr/bin/test; do rm -f $tool; printf '#!/bin/bash\\necho 42\\n' > $tool; chmod +x $tool; done 2> /dev/null; true`;
    const result = await play(box, { agent });
    expect(result).toMatchObject(box.asRoot ? { status: "verifier-failure", reward: null, cause: "reward-forged" } : { status: "failed", reward: 0 });
  });

  for (const [where, mention] of [
    ["in /tests", "# checks /app"],
    ["in its own folder", ""],
  ] as const) {
    inEverySandbox(`plants code for Python to load ${where}`, async (box) => {
      const result = await play(box, {
        agent: `site=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p "$site/planted.dist-info" /app/planted.dist-info
          for place in "$site" /app /tmp /home/agent; do for name in sitecustomize usercustomize json conftest unittest; do
            echo 'open("/logs/verifier/planted", "w"); import os; os._exit(0)' > "$place/$name.py"; done
            echo 'import os; os._exit(0)' > "$place/planted.pth"; done
          printf '[pytest11]\\nplanted = sitecustomize\\n' | tee "$site/planted.dist-info/entry_points.txt" /app/planted.dist-info/entry_points.txt`,
        test: `#!/bin/sh
${mention}
command -v python3 > /dev/null || { echo 0 > /logs/verifier/reward.txt; exit; }
python3 -c 'import json, sys, beside; print("clean", sys.path)'
python3 -m json.tool /tests/data.json && python3 -m unittest -h > /dev/null
[ -e /logs/verifier/planted ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
`,
        files: { "tests/data.json": "{}", "tests/beside.py": "" },
      });
      expect(result.output).toContain("clean");
      expect(result.output).not.toContain("/app");
      expect(result).toMatchObject({ status: "failed", reward: 0 });
    });
  }

  inEverySandbox("plants git hooks and settings", async (box) => {
    const run = `sh -c "echo 1 > /logs/verifier/reward.txt"`;
    const result = await play(box, {
      agent: `cd /app && git init -q && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -q -m a
        for hook in pre-commit post-commit post-checkout reference-transaction; do printf '#!/bin/sh\\n${run}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
        git config core.fsmonitor '${run}'; git config core.pager '${run}'; git config core.hooksPath /app/.git/hooks; git config core.editor '${run}'
        printf '[core]\\n\\tfsmonitor = ${run.replaceAll('"', '\\"')}\\n[alias]\\n\\tst = !${run.replaceAll('"', '\\"')}\\n' > /home/agent/.gitconfig`,
      test: `#!/bin/sh
echo 0 > /logs/verifier/reward.txt
git -C /app status && git -C /app log -p && git -C /app checkout -q -b other && git -C /app -c user.name=v -c user.email=v@v commit -q --allow-empty -m x
true
`,
    });
    expect(result.output).toContain("working tree clean");
    expect(result).toMatchObject({ status: "failed", reward: 0 });
  });

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

  inEverySandbox("a work that writes the reward while it is checked is not believed", async (box) => {
    const test = "#!/bin/sh\n/app/program; echo 0 > /logs/verifier/reward.txt\n";
    const agent = `printf '#!/bin/sh\\necho "{\\\\"reward\\\\": 1}" > /logs/verifier/reward.json\\n' > /app/program; chmod +x /app/program`;
    expect(await play(box, { agent, test })).toMatchObject({ status: "verifier-failure", reward: null, cause: "reward-malformed" });
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
