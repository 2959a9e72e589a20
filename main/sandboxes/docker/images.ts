/** From what a task names to an image that is there: found, pulled, or built once for all rollouts that need it at the same time. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import type { SingleImage } from "../contract.ts";
import { sandboxError } from "../sandbox-error.ts";
import { baseImage, ensureBaseImage } from "./base-image.ts";
import { reasonOf, statusOf } from "./engine.ts";
import { readProgress } from "./progress.ts";
import { SharedWork } from "./shared-work.ts";

type Report = (line: string) => void;

interface ImageBuild {
  readonly contextFolder: string;
  /** Relative to the context. */
  readonly dockerfile: string;
  readonly args: Readonly<Record<string, string>>;
  /** Stage that is the image; null = the last. */
  readonly target: string | null;
  readonly timeoutMs: number;
}

/** Names under this prefix exist on this machine only; nobody else's image of that name is ever pulled. */
const ownPrefix = "openforge/";

export class ImageSource {
  readonly #docker: Docker;
  readonly #work = new SharedWork<string>();

  constructor(docker: Docker) {
    this.#docker = docker;
  }

  /** Id of the image (`sha256:…`), present when this resolves. */
  async resolve(image: SingleImage, report: Report, signal: AbortSignal | undefined): Promise<string> {
    if (image.kind === "host") return this.#named(baseImage, report, signal);
    if (image.kind === "image") return this.#named(image.reference, report, signal);
    return this.build({ ...image, dockerfile: "Dockerfile", args: {}, target: null }, report, signal);
  }

  async #named(reference: string, report: Report, signal: AbortSignal | undefined): Promise<string> {
    const found = await this.#find(reference);
    if (found !== null) return found;
    if (reference === baseImage) {
      return this.#work.share(reference, report, signal, async (tell, stop) => {
        await ensureBaseImage(this.#docker, tell, stop);
        return this.#required(reference);
      });
    }
    if (reference.startsWith(ownPrefix)) {
      throw sandboxError(
        "image-pull",
        `There is no image ${reference} on this machine.`,
        "Build it, or run `openforge images prepare` for the base image.",
      );
    }
    return this.#work.share(reference, report, signal, async (tell, stop) => {
      await pullImage(this.#docker, reference, tell, stop);
      return this.#required(reference);
    });
  }

  /** Id of what is built, once for the same content. */
  async build(build: ImageBuild, report: Report, signal: AbortSignal | undefined): Promise<string> {
    const dockerfile = await dockerfileOf(build);
    const bases = baseReferences(dockerfile);
    const byBuildKit = needsBuildKit(dockerfile);
    // BuildKit would want a session of ours to fetch them with.
    for (const base of byBuildKit ? bases : bases.filter((name) => name === baseImage)) await this.#named(base, report, signal);
    const known = await Promise.all(bases.map(async (base) => `${base} ${(await this.#find(base)) ?? ""}`));
    const tag = `openforge/task:${(await contextKey(build, known)).slice(0, 24)}`;
    const found = await this.#find(tag);
    if (found !== null) return found;
    return this.#work.share(tag, report, signal, async (tell, stop) => {
      await buildImage(this.#docker, build, { tag, byBuildKit }, tell, stop);
      return this.#required(tag);
    });
  }

  async #find(reference: string): Promise<string | null> {
    try {
      return (await this.#docker.getImage(reference).inspect()).Id;
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw sandboxError("image-pull", `Docker cannot look up the image ${reference}: ${reasonOf(error)}.`, "Check the image's name.");
    }
  }

  async #required(reference: string): Promise<string> {
    const found = await this.#find(reference);
    if (found === null) throw sandboxError("image-pull", `The image ${reference} is not there although it was fetched.`, "Check Docker's log.");
    return found;
  }
}

async function pullImage(docker: Docker, reference: string, report: Report, signal: AbortSignal): Promise<void> {
  try {
    report(`Pulling ${reference}`);
    // Without a tag the engine would pull every tag there is.
    const named = /[:@][^/]*$/.test(reference) ? reference : `${reference}:latest`;
    await readProgress(await docker.pull(named, { abortSignal: signal }), report);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw sandboxError(
      "image-pull",
      `The image ${reference} cannot be pulled: ${reasonOf(error)}.`,
      "Check its name and this machine's network, or load it with docker load.",
    );
  }
}

interface Builder {
  readonly tag: string;
  readonly byBuildKit: boolean;
}

async function buildImage(docker: Docker, build: ImageBuild, { tag, byBuildKit }: Builder, report: Report, signal: AbortSignal): Promise<void> {
  const { contextFolder, dockerfile, args, target, timeoutMs } = build;
  const limit = AbortSignal.timeout(timeoutMs);
  report(`Building ${contextFolder}`);
  try {
    const source = { context: contextFolder, src: await readdir(contextFolder) };
    const stream = await docker.buildImage(source, {
      t: tag,
      dockerfile,
      // A number: for the text "2" dockerode opens a session, which needs files that do not come with us.
      ...(byBuildKit ? { version: 2 as unknown as "2" } : {}),
      ...(Object.keys(args).length === 0 ? {} : { buildargs: args }),
      ...(target === null ? {} : { target }),
      forcerm: true,
      labels: { "openforge.task-image": "1" },
      abortSignal: AbortSignal.any([signal, limit]),
    });
    await readProgress(stream, report);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (limit.aborted) {
      throw sandboxError(
        "image-build",
        `The image of ${contextFolder} was not built within ${timeoutMs / 1000} seconds.`,
        "Raise build_timeout_sec, or slim the Dockerfile.",
      );
    }
    const reason = reasonOf(error);
    const pull =
      /pull access denied|manifest (?:for|unknown)|not found: manifest|failed to resolve|lookup .* on|no such host|TLS handshake|registry-1\.docker/i.test(
        reason,
      );
    throw pull
      ? sandboxError(
          "image-pull",
          `The base image of ${contextFolder} cannot be pulled: ${reason}.`,
          "Check FROM in its Dockerfile and this machine's network.",
        )
      : sandboxError(
          "image-build",
          `The image of ${contextFolder} cannot be built: ${reason}.`,
          "Read the build's last lines above and mend its Dockerfile.",
        );
  }
}

function dockerfileOf({ contextFolder, dockerfile }: ImageBuild): Promise<string> {
  return readFile(join(contextFolder, dockerfile), "utf8").catch(() => {
    throw sandboxError("image-build", `There is no ${dockerfile} in ${contextFolder}.`, "Add one, or name an image.");
  });
}

/** Images named in FROM lines; earlier stages and arguments are left to the builder. */
function baseReferences(dockerfile: string): readonly string[] {
  const lines = [...dockerfile.matchAll(/^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)];
  const stages = new Set(lines.map(([, , stage = ""]) => stage.toLowerCase()));
  const names = lines.map(([, name = ""]) => name);
  return [...new Set(names.filter((name) => name !== "scratch" && !name.includes("$") && !stages.has(name.toLowerCase())))];
}

/** Harbor builds by compose, that is by BuildKit. The engine's older builder needs nothing of the network, so it builds all that it can. */
function needsBuildKit(dockerfile: string): boolean {
  const options = /^\s*(?:RUN|COPY|ADD)\s+(?:--\S+\s+)*--(?:mount|network|security|chmod|link|parents|exclude|checksum|keep-git-dir)\b/im;
  // Variables that it alone sets.
  const platform = /\b(?:TARGET|BUILD)(?:PLATFORM|OS|ARCH|VARIANT)\b/;
  return options.test(dockerfile) || platform.test(dockerfile) || /^\s*(?:RUN|COPY|ADD)\s[^\n]*<<-?["']?[A-Za-z_]/im.test(dockerfile);
}

/** Digest of everything that goes into a build: its settings, names, modes, links and content of the context, and the base images as they are now. */
async function contextKey({ contextFolder, dockerfile, args, target }: ImageBuild, bases: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  const isPlain = dockerfile === "Dockerfile" && target === null && Object.keys(args).length === 0;
  if (!isPlain) hash.update(`settings ${JSON.stringify([dockerfile, target, Object.entries(args).sort()])}\n`);
  for (const base of [...bases].sort()) hash.update(`from ${base}\n`);
  const walk = async (folder: string, name: string): Promise<void> => {
    const stat = await lstat(folder);
    if (stat.isDirectory()) {
      hash.update(`folder ${name} ${stat.mode & 0o777}\n`);
      for (const entry of (await readdir(folder)).sort()) await walk(join(folder, entry), `${name}/${entry}`);
    } else if (stat.isSymbolicLink()) {
      hash.update(`link ${name} ${await readlink(folder)}\n`);
    } else if (stat.isFile()) {
      hash.update(`file ${name} ${stat.mode & 0o777} ${stat.size}\n`);
      for await (const chunk of createReadStream(folder)) hash.update(chunk);
    }
  };
  await walk(contextFolder, "");
  return hash.digest("hex");
}
