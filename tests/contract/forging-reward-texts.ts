/** Reward files that say more than a number: the verifier passes on what the agent wrote, or writes it so itself. */
import type { ForgingCase } from "./forging-cases.ts";

/** `printf` formats by name. */
const texts: Readonly<Record<string, string>> = {
  NaN: "nan",
  "plus infinity": "inf",
  "minus infinity": "-Infinity",
  "a number too large for a double": "1e999",
  "a number out of all proportion": "1e300",
  "digits of another script": "١",
  "a byte order mark": "\\357\\273\\277" + "1",
  "a byte of zero": "1\\000",
};

const tables: Readonly<Record<string, string>> = {
  "a name twice": '{"reward": 0, "reward": 1}',
  "nested rewards": '{"reward": {"reward": 1}}',
  "a bare NaN": '{"reward": NaN}',
  "several names and none of them the reward": '{"a": 1, "b": 1}',
};

const passOn = (file: string): string => `#!/bin/sh\ncat /app/said > /logs/verifier/${file}\n`;
const malformed = { cause: "reward-malformed", noHonestWork: true } as const;

export const rewardTextCases: readonly ForgingCase[] = [
  ...Object.entries(texts).map(([name, text]) => ({
    name: `reward.txt with ${name}`,
    agent: `printf -- '${text}' > /app/said`,
    test: passOn("reward.txt"),
    ...malformed,
  })),
  ...Object.entries(tables).map(([name, text]) => ({
    name: `reward.json with ${name}`,
    agent: `printf -- '${text}' > /app/said`,
    test: passOn("reward.json"),
    ...malformed,
  })),
  {
    name: "reward.json nested beyond measure",
    agent: `node -e 'process.stdout.write("[".repeat(60000))' > /app/said`,
    test: passOn("reward.json"),
    ...malformed,
  },
  { name: "one very long line", agent: "head -c 100000 /dev/zero | tr '\\0' 1 > /app/said", test: passOn("reward.txt"), ...malformed },
  { name: "nothing but space", agent: "printf ' \\n\\t' > /app/said", test: passOn("reward.txt"), cause: "reward-missing", noHonestWork: true },
];
