/** Task packages as somebody else's archives, and the flake meter, by the built command line. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wilsonInterval } from "../../engine/statistics/index.ts";
import { run, temporaryData } from "./openforge.ts";

const data = temporaryData();
const folder = mkdtempSync(join(tmpdir(), "openforge-e2e-tasks-"));
const temporary = join(folder, "tmp");
const made = join(folder, "source", "count-words");
beforeAll(async () => {
  mkdirSync(temporary);
  expect((await run(["task", "new", made], data.path)).code).toBe(0);
}, 60_000);
afterAll(() => {
  data.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A tar.gz and, by Python, a zip of everything below a folder. */
function archives(name: string): readonly string[] {
  const [tar, zip] = [join(folder, `${name}.tar.gz`), join(folder, `${name}.zip`)];
  execFileSync("tar", ["-czf", tar, "-C", join(folder, name), "."]);
  execFileSync("python3", ["-m", "zipfile", "-c", zip, ...readdirSync(join(folder, name)).map((entry) => join(folder, name, entry))]);
  return [tar, zip];
}
/** What the command line says of an archive that it refuses. */
async function refusal(archive: string): Promise<string> {
  const { code, stderr, stdout } = await run(["task", "import", archive, "--to", join(folder, "never")], data.path, { TMPDIR: temporary });
  expect([code !== 0, existsSync(join(folder, "never"))]).toEqual([true, false]);
  return `${stdout}${stderr}`.trim();
}

test("a package in an archive is imported; its digest is that of the folder", { timeout: 120_000 }, async () => {
  const digest = (await run(["task", "digest", made], data.path)).stdout.trim();
  for (const [index, archive] of archives("source").entries()) {
    const ended = await run(["task", "import", archive, "--to", join(folder, `imported-${index}`), "--json"], data.path);
    expect([ended.stderr, ended.code]).toEqual(["", 0]);
    expect(JSON.parse(ended.stdout)).toMatchObject({ valid: true, digest });
  }
});

test("a hostile or mistaken archive is refused with one sentence, and leaves nothing", { timeout: 180_000 }, async () => {
  mkdirSync(join(folder, "empty", "inside"), { recursive: true });
  writeFileSync(join(folder, "empty", "inside", "read.me"), "no task\n");
  for (const archive of archives("empty"))
    expect(await refusal(archive)).toMatch(/holds no task\.toml\.\n?.*Give the folder, archive or repository/s);
  for (const name of ["one", "two"]) cpSync(made, join(folder, "several", name), { recursive: true });
  for (const archive of archives("several")) expect(await refusal(archive)).toContain("holds 2 task packages: one, two.");

  cpSync(made, join(folder, "linked", "task"), { recursive: true });
  symlinkSync("/etc/passwd", join(folder, "linked", "task", "environment", "names.txt"));
  expect(await refusal(archives("linked")[0] ?? "")).toContain(
    "is not unpacked: the link task/environment/names.txt leads out of it, to /etc/passwd.",
  );

  const climbing = join(folder, "climbing.tar.gz");
  execFileSync("tar", ["-czf", climbing, "-C", join(folder, "source"), "--transform", "s|^|../../|", "count-words"]);
  expect(await refusal(climbing)).toContain("../../count-words/ lies outside of it.");
  const absolute = join(folder, "absolute.tar.gz");
  execFileSync("tar", ["-P", "-czf", absolute, made]);
  expect(await refusal(absolute)).toContain("lies outside of it.");
  const bomb = join(folder, "bomb.tar.gz");
  execFileSync("bash", ["-c", 'truncate -s 5G "$0/zeros"; tar -cf - -C "$0" zeros | head -c 1000000 | gzip > "$1"; rm "$0/zeros"', folder, bomb]);
  expect(await refusal(bomb)).toContain("is not unpacked: unpacked it is larger than 4 GiB.");
  expect(readdirSync(temporary).filter((name) => name.includes("import"))).toEqual([]);
});

test("the flake meter counts how often the gold solution earns the maximum", { timeout: 180_000 }, async () => {
  const doctor = JSON.parse((await run(["doctor", "--json"], data.path)).stdout) as { name: string; status: string }[];
  const address = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  if (address === undefined || doctor.find(({ name }) => /local/i.test(name))?.status !== "ready") return;
  // Every third verdict of this verifier is wrong.
  let asked = 0;
  const server = createServer((_request, answer) => {
    asked += 1;
    answer.end(asked % 3 === 0 ? "0" : "1");
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const flaky = join(folder, "flaky");
  const files = {
    "task.toml": `schema_version = "1.4"\n[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["${address}"]\n`,
    "instruction.md": "Do nothing.\n",
    "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/sh\ntrue\n",
    "tests/test.sh": `#!/bin/sh\npython3 -c "import urllib.request as u; print(u.urlopen('http://${address}:${port}/').read().decode())" > /logs/verifier/reward.txt\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(flaky, path, ".."), { recursive: true });
    writeFileSync(join(flaky, path), text, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
  const { low, high } = wilsonInterval(5 / 7, 7);
  const { code, stdout, stderr } = await run(["task", "run-gold", flaky, "--times", "7", "--json"], data.path);
  const told = JSON.parse(stdout);
  expect([code, told.n, told.maximum, told.low, told.high], stderr).toEqual([1, 7, 5, low, high]);
  expect(told.runs.map(({ reward }: { reward: number }) => reward)).toEqual([1, 1, 0, 1, 1, 0, 1]);
  const shown = await run(["task", "run-gold", flaky, "--times", "2"], data.path);
  expect(shown.stdout.trim().split("\n").at(-1)).toBe("1 of 2 runs earned the maximum (95 %: 0.09 to 0.91)");
  server.close();
});
