/**
 * Python environments for the checks by others' own readers: made once, kept under the user's cache folder. None is needed to use the
 * product; where one cannot be had, the checks that want it are skipped by name.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "openforge");

interface EnvironmentPlan {
  /** Of the folder: another list of packages is another name. */
  readonly name: string;
  readonly pythonMinor: number;
  /** Argument lists of `pip install`, in turn. */
  readonly installs: readonly (readonly string[])[];
  /** Imports that must succeed. */
  readonly imports: string;
  /** Another environment's packages are used beside its own, if it is there. */
  readonly beside?: string;
}

/** Harbor's models, without the services that it starts. */
const harbor: EnvironmentPlan = {
  name: "harbor-0.26.0",
  pythonMinor: 12,
  installs: [
    ["--no-deps", "harbor==0.26.0"],
    ["pydantic", "toml", "shortuuid", "dirhash", "pathspec", "pyyaml", "packaging", "platformdirs"],
  ],
  imports: "harbor.models.job.result",
};

/** Enough to read parquet columns. */
const parquet: EnvironmentPlan = { name: "parquet-1", pythonMinor: 9, installs: [["pyarrow"]], imports: "pyarrow.parquet" };

/** The loaders of TRL and verl; some gigabytes, for PyTorch. */
const trainers: EnvironmentPlan = {
  name: "trainers-1",
  pythonMinor: 11,
  installs: [
    [
      "pyarrow",
      "datasets",
      "transformers",
      "omegaconf",
      "accelerate",
      "packaging",
      "jinja2",
      "pillow",
      "orjson",
      "cloudpickle",
      "importlib_metadata",
      "pyvers",
    ],
    ["--no-deps", "trl==1.16.0", "verl==0.9.1", "tensordict"],
  ],
  imports: "torch, datasets, trl, tensordict, omegaconf",
  beside: "pytorch-2.9.1",
};

/** llama.cpp's own HTTP server inside a wheel, and what writes a model in its format. */
const llamaCpp: EnvironmentPlan = {
  name: "llama-cpp-2026.10.11549",
  pythonMinor: 10,
  installs: [["--no-deps", "xllamacpp==2026.10.11549"], ["gguf==0.19.0"]],
  imports: "xllamacpp, gguf",
};
const plans = { harbor, parquet, trainers, llamaCpp };

export interface Environment {
  /** Path of its interpreter; null when it cannot be had. */
  readonly python: string | null;
  /** Why not. */
  readonly reason: string;
}

/** Finds the environment, or makes it. Never rejects. */
export async function pythonEnvironment(kind: keyof typeof plans, report: (line: string) => void = () => undefined): Promise<Environment> {
  const plan = plans[kind];
  const folder = join(cache, plan.name);
  const inside = (root: string): string => join(root, "bin", "python");
  if (await imports(inside(folder), plan.imports)) return { python: inside(folder), reason: "" };
  const python = await findPython(plan.pythonMinor);
  if (python === null) return { python: null, reason: `no Python 3.${plan.pythonMinor} or newer` };
  const making = `${folder}.${process.pid}.part`;
  try {
    report(`making the Python environment ${plan.name}`);
    await rm(folder, { recursive: true, force: true });
    await makeEnvironment(python, making);
    const besides = plan.beside === undefined ? null : packagesOf(join(cache, plan.beside));
    if (besides !== null) await writeFile(join(packagesOf(making) ?? making, "beside.pth"), `${besides}\n`);
    else if (plan.beside !== undefined) await install(making, ["torch==2.9.1", "numpy"], report);
    for (const packages of plan.installs) await install(making, packages, report);
    // The place of an environment is written into its scripts only; we start none but the interpreter.
    await rename(making, folder);
    if (await imports(inside(folder), plan.imports)) return { python: inside(folder), reason: "" };
    return { python: null, reason: `${plan.name} lacks a package: ${plan.imports} cannot be imported` };
  } catch (error) {
    return { python: null, reason: `${plan.name} could not be installed: ${lastLine(error)}` };
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** Prefers `uv` where it is: it needs no venv module of the distribution. */
async function makeEnvironment(python: string, folder: string): Promise<void> {
  try {
    await run(python, ["-m", "venv", folder], { timeout: 120_000 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    await run("uv", ["venv", "--seed", "--python", python, folder], { timeout: 120_000 }).catch(() => {
      throw error;
    });
  }
}

async function install(folder: string, packages: readonly string[], report: (line: string) => void): Promise<void> {
  report(`pip install ${packages.join(" ")}`);
  await run(join(folder, "bin", "python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages], {
    timeout: 1_800_000,
    maxBuffer: 1 << 26,
  });
}

/** The newest of those on the path and of pyenv's that is new enough. */
async function findPython(minor: number): Promise<string | null> {
  const pyenv = join(process.env.PYENV_ROOT || join(homedir(), ".pyenv"), "versions");
  const versions = existsSync(pyenv) ? readdirSync(pyenv).map((version) => join(pyenv, version, "bin", "python3")) : [];
  const onPath = [minor, minor + 1, minor + 2].map((version) => `python3.${version}`);
  for (const candidate of [...onPath, "python3", ...versions]) {
    try {
      const { stdout } = await run(candidate, ["-c", "import sys; print(sys.version_info[1], sys.executable)"], { timeout: 20_000 });
      const [version, ...path] = stdout.trim().split(" ");
      if (Number(version) >= minor) return path.join(" ");
    } catch {
      // Not there, or a shim of a version that is not: the next one.
    }
  }
  return null;
}

async function imports(python: string, modules: string): Promise<boolean> {
  if (!existsSync(python)) return false;
  return run(python, ["-c", `import ${modules}`], { timeout: 180_000 }).then(
    () => true,
    () => false,
  );
}

function packagesOf(environment: string): string | null {
  const library = join(environment, "lib");
  const name = existsSync(library) ? readdirSync(library).find((entry) => entry.startsWith("python3")) : undefined;
  return name === undefined ? null : join(library, name, "site-packages");
}

function lastLine(error: unknown): string {
  const text =
    error instanceof Error && "stderr" in error && typeof error.stderr === "string" && error.stderr.trim() !== "" ? error.stderr : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
