import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkTask } from "../tasks/index.ts";
import { generateStarterTasks, starterFamilies } from "./index.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-starter-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Path → text of every file below. */
async function contents(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file.slice(root.length), await readFile(file, "utf8")] as const)));
}

describe("starter tasks", () => {
  test("same seed, same bytes; families take turns", async () => {
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    const made = await generateStarterTasks({ split: "train", count: 25, seed: 7, folder: one });
    await generateStarterTasks({ split: "train", count: 25, seed: 7, folder: two });
    expect(await contents(two)).toEqual(await contents(one));
    expect(made.map(({ family }) => family)).toEqual(Array.from({ length: 25 }, (_unused, index) => starterFamilies[index % 5]));
    const other = await generateStarterTasks({ split: "train", count: 25, seed: 8, folder: join(folder, "other") });
    expect(other.map(({ name }) => name)).not.toEqual(made.map(({ name }) => name));
  });

  test("the splits share no task", async () => {
    const train = await generateStarterTasks({ split: "train", count: 120, seed: 1, folder: join(folder, "train") });
    const heldOut = await generateStarterTasks({ split: "held-out", count: 60, seed: 1, folder: join(folder, "held-out") });
    const names = new Set(train.map(({ name }) => name));
    expect(names.size).toBe(120);
    expect(heldOut.filter(({ name }) => names.has(name))).toEqual([]);
  });

  test("every package is valid, without a warning", async () => {
    const made = await generateStarterTasks({ split: "held-out", count: 10, seed: 3, folder: join(folder, "checked") });
    for (const { folder: path, family } of made) {
      const check = await checkTask(path);
      expect(check.faults).toEqual([]);
      expect(check.task?.instruction).toMatch(/[^\n]\n\nWhen it is done, answer: Done\.$/);
      expect(check.task).toMatchObject({ family, agent: { network: { mode: "no-network" } } });
    }
  });

  test("a count that cannot be made is refused", async () => {
    await expect(generateStarterTasks({ split: "train", count: 0, seed: 1, folder })).rejects.toThrow("0 starter tasks cannot be made");
  });
});

describe("the verifier", () => {
  /** The package's scripts with the sandbox's places moved into a folder of the test. */
  async function judge(packageFolder: string, act: string): Promise<string> {
    const box = await mkdtemp(join(folder, "box-"));
    const moved = (text: string): string => text.replaceAll("/app", `${box}/app`).replaceAll("/logs", `${box}/logs`);
    const scripts = { gold: "solution/solve.sh", test: "tests/test.sh" };
    const [gold, check] = await Promise.all(
      [scripts.gold, scripts.test].map(async (path) => moved(await readFile(join(packageFolder, path), "utf8"))),
    );
    const files = join(packageFolder, "environment/files");
    const script = `mkdir -p ${box}/app ${box}/logs/agent ${box}/logs/verifier; [ -d ${files} ] && cp -r ${files}/. ${box}/app
      ( cd ${box}/app; ${act.replace("GOLD", gold ?? "")}\n)\n sh -c '${(check ?? "").replaceAll("'", "'\\''")}'; cat ${box}/logs/verifier/reward.txt`;
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script]);
    expect(stderr).toBe("");
    return stdout.trim();
  }

  test("gold earns 1, nothing earns 0, other last words earn 0", { timeout: 120_000 }, async () => {
    const made = await generateStarterTasks({ split: "held-out", count: 10, seed: 5, folder: join(folder, "judged") });
    for (const { folder: path } of made) {
      expect(await judge(path, "GOLD")).toBe("1");
      expect(await judge(path, "true")).toBe("0");
      expect(await judge(path, 'GOLD\n printf "Done. Done." > ../logs/agent/final.txt')).toBe("0");
      expect(await judge(path, "GOLD\n printf 'Done.\\n\\n' > ../logs/agent/final.txt")).toBe("0");
      expect(await judge(path, "GOLD\n printf Done. > ../logs/agent/final.txt")).toBe("1");
      expect(await judge(path, "GOLD\n for file in *.txt */*.txt; do [ -f $file ] && echo more >> $file; done; true")).toBe("0");
    }
  });
});
