import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { digestFiles, taskChecksum, taskDigest } from "./package-digest.ts";

const fixtures = new URL("../../../tests/fixtures/harbor/", import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), "openforge-digest-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const entrySchema = z.union([z.string(), z.object({ base64: z.string() }), z.object({ link: z.string() }), z.object({ dir: z.literal(true) })]);
const cases = z
  .array(
    z.object({
      name: z.string(),
      files: z.record(z.string(), entrySchema),
      checksum: z.string(),
      digest: z.string(),
      digest_files: z.array(z.string()),
    }),
  )
  .parse(JSON.parse(readFileSync(`${fixtures}checksums.json`, "utf8")));

function write(name: string, files: Readonly<Record<string, z.infer<typeof entrySchema>>>): string {
  const folder = join(scratch, name);
  for (const [path, entry] of Object.entries(files)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    if (typeof entry === "string") writeFileSync(target, entry);
    else if ("base64" in entry) writeFileSync(target, Buffer.from(entry.base64, "base64"));
    else if ("link" in entry) symlinkSync(entry.link, target);
    else mkdirSync(target, { recursive: true });
  }
  return folder;
}

test.each(cases)("$name", async ({ name, files, checksum, digest, digest_files }) => {
  const folder = write(name, files);
  expect(await digestFiles(folder)).toEqual(digest_files);
  expect(await taskDigest(folder)).toBe(digest);
  expect(await taskChecksum(folder)).toBe(checksum);
});

test("the packages of the fixtures", async () => {
  const expected = z
    .record(z.string(), z.object({ checksum: z.string().optional(), digest: z.string().optional() }))
    .parse(JSON.parse(readFileSync(`${fixtures}tasks/expected.json`, "utf8")));
  for (const [name, { checksum, digest }] of Object.entries(expected)) {
    if (digest === undefined) continue;
    expect(await taskDigest(`${fixtures}tasks/${name}`), name).toBe(digest);
    expect(await taskChecksum(`${fixtures}tasks/${name}`), name).toBe(checksum);
  }
});

test("what cannot be digested says which file and why", async () => {
  const faulty = { "task.toml": "", "tests/test.sh": "", "tests/.harborignore": "ok\nbroken\\\n" };
  await expect(taskDigest(write("ignore", faulty))).rejects.toMatchObject({ file: "tests/.harborignore", line: 2 });
  await expect(taskDigest(write("range", { "task.toml": "", ".gitignore": "\n[z-a]\n" }))).rejects.toMatchObject({ file: ".gitignore", line: 2 });
  await expect(taskChecksum(write("circle", { "other/loop": { link: "." } }))).rejects.toMatchObject({ file: "other/loop" });
  await expect(taskDigest(write("file", { environment: "x" }))).rejects.toMatchObject({
    file: "environment",
    message: "environment must be a folder.",
  });
});
