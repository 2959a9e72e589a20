import { expect, test } from "vitest";
import { WorkbenchError } from "../errors.ts";
import { parseExperiment, readExperiment } from "./read-experiment.ts";

test("a file gets the defaults, and its paths start where it lies", () => {
  const spec = parseExperiment(
    "tasks: [starter, ../mine]\npolicies: [scripted, 'scripted:rules.yaml', 'http://127.0.0.1:8000/v1']\n",
    "/home/ada/runs/a.yaml",
  );
  expect(spec).toMatchObject({
    tasks: ["starter", "/home/ada/mine"],
    harnesses: ["react"],
    policies: ["scripted", "scripted:/home/ada/runs/rules.yaml", "http://127.0.0.1:8000/v1"],
    k: 1,
  });
});

test("options alone make an experiment, and a wrong one is named", async () => {
  expect(await readExperiment(undefined, { tasks: ["starter"], k: 3 })).toMatchObject({ k: 3, sandbox: "local" });
  await expect(readExperiment(undefined, { k: 0 })).rejects.toThrow("`k` must be more than 0.");
  await expect(readExperiment("/nowhere/a.yaml", {})).rejects.toThrow("The experiment file /nowhere/a.yaml cannot be read.");
});

test("the file of a training run is known for one", () => {
  const reading = (): unknown => parseExperiment("name: mine\nbase: starter\nstages:\n  - { kind: rl }\n", "my runs/a.yaml");
  expect(reading).toThrow(expect.objectContaining({ remedy: "It looks like the file of a training run: openforge train 'my runs/a.yaml'" }));
});

const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]", ..."bcdef".split("").map((name, index) => `${name}: &${name} [${`*${"abcde"[index]},`.repeat(10)}]`)];

test.each<[name: string, text: string, message: string]>([
  ["an empty file", "", "1: The experiment is not a table of keys, as in `tasks: [starter]`."],
  ["a comment only", "# later\n", "1: The experiment is not a table of keys, as in `tasks: [starter]`."],
  ["a word", "hello\n", "1: The experiment is not a table of keys, as in `tasks: [starter]`."],
  ["a number", "42\n", "1: The experiment is not a table of keys, as in `tasks: [starter]`."],
  ["a list", "- starter\n", "1: The experiment is not a table of keys, as in `tasks: [starter]`."],
  ["tabs", "tasks:\n\t- starter\n", "2: Tabs are not allowed as indentation; use spaces."],
  ["an open bracket", "name: x\ntasks: [starter\n", "3: Flow sequence in block collection must be sufficiently indented and end with a ]."],
  ["a key twice", "tasks: [starter]\ntasks: [starter]\n", "2: Map keys must be unique."],
  ["two documents", "k: 1\n---\nk: 2\n", "2: The experiment must be one document; remove the second `---`."],
  ["a tag of another language", "name: !!js/function x\n", "1: Unresolved tag: tag:yaml.org,2002:js/function."],
  ["aliases without end", `${bomb.join("\n")}\ntasks: *f\n`, "1: The experiment repeats itself by aliases (`*name`) too often."],
  ["an unknown key", "tasks: [starter]\nharness: [react]\n", "2: unknown key `harness`."],
  ["a text for a list", "k: 1\ntasks: starter\n", "2: `tasks` must be a list."],
  ["an empty list", "harnesses: []\n", "1: `harnesses` needs at least one entry."],
  ["an empty text", "policies: [scripted, '']\n", "1: `policies.1` must not be empty."],
  ["a word for a number", "k: many\n", "1: `k` must be a number."],
  ["half a rollout", "k: 1.5\n", "1: `k` must be a whole number."],
  ["no rollout", "k: 0\n", "1: `k` must be more than 0."],
  ["too many at once", "concurrency: 1000\n", "1: `concurrency` must be at most 256."],
  ["a seed below 0", "seed: -1\n", "1: `seed` must be at least 0."],
  ["an unknown sandbox", "tasks: [starter]\nsandbox: vm\n", "2: `sandbox` must be one of local, docker, kubernetes."],
  ["several faults", "k: 0\nname: [a]\n", "1: `k` must be more than 0. (and 1 more)"],
])("%s is told with its line", (_name, text, message) => {
  expect(() => parseExperiment(text, "e.yaml")).toThrow(WorkbenchError);
  expect(() => parseExperiment(text, "e.yaml")).toThrow(`e.yaml:${message}`);
});
