/** Packages written to a scratch folder for the tests beside this file. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type PackageEntry = string | Uint8Array | { readonly link: string } | null;

/** A valid package without warnings; each test changes what it is about. */
const validPackage: Readonly<Record<string, PackageEntry>> = {
  "task.toml": 'schema_version = "1.4"\n\n[environment]\nnetwork_mode = "no-network"\nworkdir = "/app"\n',
  "instruction.md": "Write 42 to /app/answer.txt.\n",
  "environment/Dockerfile": "FROM openforge/base:1\n",
  "tests/test.sh": '#!/bin/sh\n[ "$(cat /app/answer.txt)" = 42 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  "solution/solve.sh": "#!/bin/sh\necho 42 > /app/answer.txt\n",
};

export interface PackageFolders {
  /** Writes the valid package with changes (null = the file is left out); resolves with its folder. */
  write(changes?: Readonly<Record<string, PackageEntry>>): Promise<string>;
  dispose(): Promise<void>;
}

export async function packageFolders(): Promise<PackageFolders> {
  const root = await mkdtemp(join(tmpdir(), "openforge-package-"));
  let count = 0;
  return {
    async write(changes = {}) {
      count += 1;
      const folder = join(root, `package-${count}`);
      await mkdir(folder);
      for (const [path, entry] of Object.entries({ ...validPackage, ...changes })) {
        if (entry === null) continue;
        const target = join(folder, path);
        await mkdir(dirname(target), { recursive: true });
        if (typeof entry === "object" && "link" in entry) await symlink(entry.link, target);
        else await writeFile(target, entry);
        if (target.endsWith(".sh") && !(typeof entry === "object" && "link" in entry)) await chmod(target, 0o755);
      }
      return folder;
    },
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}
