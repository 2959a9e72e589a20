import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { trajectoryFault } from "../../main/imports/index.ts";
import { checkTask, digestFiles, plainConfig, readTaskToml, taskChecksum, taskDigest } from "../../main/tasks/index.ts";
import { firstDifference, type Report } from "./report.ts";

const tomlVerdicts = z.record(
  z.string(),
  z.object({ accepted: z.boolean(), config: z.unknown().optional(), dropped: z.array(z.string()).optional() }),
);
const taskVerdicts = z.record(z.string(), z.object({ accepted: z.boolean(), checksum: z.string().optional(), digest: z.string().optional() }));
const packageFile = z.union([z.string(), z.object({ base64: z.string() }), z.object({ link: z.string() }), z.object({ dir: z.literal(true) })]);
const packages = z.array(
  z.object({
    name: z.string(),
    files: z.record(z.string(), packageFile),
    checksum: z.string(),
    digest: z.string(),
    digest_files: z.array(z.string()),
  }),
);

/** Harbor's verdicts on task files and whole packages, and its two digests. */
export async function checkHarbor(folder: string, report: Report): Promise<void> {
  await checkTaskFiles(join(folder, "task-toml"), report);
  await checkPackages(join(folder, "tasks"), report);
  await checkChecksums(join(folder, "checksums.json"), report);
  await checkTrajectories(join(folder, "trajectories"), report);
}

async function checkTrajectories(folder: string, report: Report): Promise<void> {
  const verdicts = z.record(z.string(), z.object({ accepted: z.boolean() })).parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8")));
  for (const [name, { accepted }] of Object.entries(verdicts)) {
    await report.run(`trajectories/${name}`, async () => {
      const fault = await trajectoryFault(join(folder, name));
      if (accepted) return fault === null ? null : `refused: ${fault}`;
      return fault === null ? "accepted, though Harbor refuses it" : null;
    });
  }
}

async function checkTaskFiles(folder: string, report: Report): Promise<void> {
  const verdicts = tomlVerdicts.parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8")));
  for (const [name, verdict] of Object.entries(verdicts)) {
    await report.run(`task-toml/${name}`, async () => {
      const bytes = await readFile(join(folder, name));
      const reading = readTaskToml(bytes);
      if (!verdict.accepted) return refusedByLine(reading.faults, bytes.toString("utf8").split("\n").length);
      if (reading.config === null) return `refused: ${reading.faults[0]?.message}`;
      return firstDifference({
        config: [plainConfig(reading.config), verdict.config],
        dropped: [[...reading.dropped].sort(), [...(verdict.dropped ?? [])].sort()],
      });
    });
  }
}

/** A refusal has an error that names a line of the file and says a sentence. */
function refusedByLine(
  faults: readonly { readonly severity: string; readonly line: number; readonly message: string }[],
  lines: number,
): string | null {
  const error = faults.find((fault) => fault.severity === "error");
  if (error === undefined) return "accepted, though Harbor refuses it";
  return error.line >= 1 && error.line <= lines && error.message !== "" ? null : `refused without a line of the file: ${JSON.stringify(error)}`;
}

async function checkPackages(folder: string, report: Report): Promise<void> {
  const verdicts = taskVerdicts.parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8")));
  for (const [name, verdict] of Object.entries(verdicts)) {
    await report.run(`tasks/${name}`, async () => {
      const check = await checkTask(join(folder, name));
      if (!verdict.accepted) return refusedByLine(check.faults, Number.POSITIVE_INFINITY);
      if (!check.valid) return `refused: ${check.faults.find((fault) => fault.severity === "error")?.message}`;
      return firstDifference({ checksum: [check.task?.checksum, verdict.checksum], digest: [check.digest, verdict.digest] });
    });
  }
}

async function checkChecksums(file: string, report: Report): Promise<void> {
  for (const one of packages.parse(JSON.parse(await readFile(file, "utf8")))) {
    const folder = await mkdtemp(join(tmpdir(), "openforge-conformance-"));
    try {
      for (const [path, content] of Object.entries(one.files)) await writePackageFile(join(folder, path), content);
      await report.run(`checksums/${one.name}`, async () =>
        firstDifference({
          checksum: [await taskChecksum(folder), one.checksum],
          "files of the digest": [await digestFiles(folder), one.digest_files],
          digest: [await taskDigest(folder), one.digest],
        }),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function writePackageFile(path: string, content: z.infer<typeof packageFile>): Promise<void> {
  if (typeof content !== "string" && "dir" in content) {
    await mkdir(path, { recursive: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  if (typeof content === "string") await writeFile(path, content);
  else if ("link" in content) await symlink(content.link, path);
  else await writeFile(path, Buffer.from(content.base64, "base64"));
}
