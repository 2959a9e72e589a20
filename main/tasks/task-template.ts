/**
 * The package that `task new` writes: small, complete and valid, with a gold solution that earns 1 and cheats that earn 0, to be
 * changed into the task one has in mind. Checking it needs sh, coreutils and the Node of the workbench.
 */

export interface TemplateFile {
  readonly path: string;
  readonly text: string;
  readonly executable?: boolean;
}

const words = "pear\napple\nfig\npear\nquince\napple\nplum\nfig\ncherry\n";

export function templateFiles(name: string, family: string): readonly TemplateFile[] {
  return [
    {
      path: "task.toml",
      text: `schema_version = "1.4"

[task]
name = ${JSON.stringify(name)}
version = "1"
description = "Sort the words of a file, each once"

[metadata.openforge]
family = ${JSON.stringify(family)}
split = "train"
difficulty = "easy"
# Copied into the working folder where no image is built (local sandbox); the Dockerfile does the same.
initial_state = { files = "environment/files" }

[agent]
timeout_sec = 600

[verifier]
timeout_sec = 60

[environment]
workdir = "/app"
network_mode = "no-network"
memory_mb = 2048
`,
    },
    {
      path: "instruction.md",
      text: "`/app/words.txt` holds words, one a line. Write every word once, in ascending order, one a line, to `/app/sorted.txt`. Leave `/app/words.txt` as it is.\n",
    },
    {
      path: "README.md",
      text: `# ${name}

- \`instruction.md\` is what the agent reads.
- \`environment/files/\` is what it finds in its working folder.
- \`tests/test.sh\` checks the work and writes the reward, 0 to 1, to \`/logs/verifier/reward.txt\`. It runs in \`/tests\`; the agent's folder is \`$OPENFORGE_WORKDIR\`.
- \`solution/solve.sh\` must earn 1: \`openforge task run-gold .\`
- Doing nothing must earn 0: \`openforge task run-empty .\`
- Each \`cheats/NAME/solve.sh\` must earn 0: \`openforge task run-cheats .\`
`,
    },
    { path: "environment/files/words.txt", text: words },
    {
      path: "environment/Dockerfile",
      text: "FROM openforge/base:1\nCOPY --chown=1000:1000 files/ /app/\nRUN chown 1000:1000 /app\nWORKDIR /app\nUSER 1000:1000\n",
    },
    {
      path: "tests/test.sh",
      executable: true,
      text: `#!/bin/sh
# Judges by what is on disk, against our own copy: nothing that the agent can write is run or trusted here.
reward=0
if [ -f /app/sorted.txt ] && LC_ALL=C sort -u /tests/words.txt | cmp -s - /app/sorted.txt && cmp -s /tests/words.txt /app/words.txt; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
`,
    },
    { path: "tests/words.txt", text: words },
    { path: "solution/solve.sh", executable: true, text: "#!/bin/sh\nLC_ALL=C sort -u /app/words.txt > /app/sorted.txt\n" },
    {
      path: "cheats/copy-the-input/solve.sh",
      executable: true,
      text: "#!/bin/sh\n# Something is there, but not what was asked for.\ncp /app/words.txt /app/sorted.txt\n",
    },
    {
      path: "cheats/claim-the-reward/solve.sh",
      executable: true,
      text: "#!/bin/sh\n# Writes the reward itself, and goes on doing so in the background.\n(while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.1; done) > /dev/null 2>&1 &\necho 1 > /logs/verifier/reward.txt\n",
    },
    {
      path: "cheats/change-the-input/solve.sh",
      executable: true,
      text: "#!/bin/sh\n# Makes the task trivial.\n: > /app/words.txt\n: > /app/sorted.txt\n",
    },
  ];
}
