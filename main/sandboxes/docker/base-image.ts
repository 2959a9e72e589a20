/**
 * The base image that our own tasks start from: a small Debian with sh, coreutils, git and python. Pulled and completed where a registry
 * answers; else packed from the packages of this machine's own distribution, so that Docker rollouts need no network at all.
 */
import type Docker from "dockerode";
import tar from "tar-fs";
import { WorkbenchError } from "../../errors.ts";
import { sandboxError } from "../sandbox-error.ts";
import { connectEngine, reasonOf, requireEngine } from "./engine.ts";
import { hostPackages, packHostPackages } from "./host-packages.ts";
import { readProgress } from "./progress.ts";

export const baseImage = "openforge/base:1";

const upstreamImage = "debian:bookworm-slim";
const upstreamLimitMs = 300_000;
const optionalPackages = ["python3", "procps", "gawk", "less"];
const requiredPackages = [
  ...["bash", "dash", "coreutils", "debianutils", "util-linux", "findutils", "diffutils", "grep", "sed", "tar", "gzip", "git", "ca-certificates"],
  ...["base-files", "base-passwd", "libc-bin", "libstdc++6"],
];
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface PreparedImage {
  readonly image: string;
  /** In words, for a person. */
  readonly how: string;
}

/** Makes sure of the base image on the engine at hand: what `openforge images prepare` does. */
export async function prepareImages(onProgress: (line: string) => void, signal?: AbortSignal): Promise<PreparedImage> {
  const engine = connectEngine(undefined);
  await requireEngine(engine);
  return ensureBaseImage(engine.docker, onProgress, signal ?? new AbortController().signal);
}

export async function ensureBaseImage(docker: Docker, report: (line: string) => void, signal: AbortSignal): Promise<PreparedImage> {
  const there = await docker
    .getImage(baseImage)
    .inspect()
    .then(
      () => true,
      () => false,
    );
  if (there) return { image: baseImage, how: "it was there already" };
  const how = await fromUpstream(docker, report, signal).catch(async (error: unknown) => {
    if (signal.aborted) throw signal.reason;
    report(`${upstreamImage} cannot be had (${reasonOf(error)}); packing this machine's own packages instead`);
    return fromHostPackages(docker, report, signal);
  });
  return { image: baseImage, how };
}

async function fromUpstream(docker: Docker, report: (line: string) => void, signal: AbortSignal): Promise<string> {
  const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(upstreamLimitMs)]);
  const loaded = await docker
    .getImage(upstreamImage)
    .inspect()
    .then(
      () => true,
      () => false,
    );
  if (!loaded) {
    report(`Pulling ${upstreamImage}`);
    await readProgress(await docker.pull(upstreamImage, { abortSignal }), report);
  }
  const wanted = [...requiredPackages, ...optionalPackages].join(" ");
  const dockerfile = [
    `FROM ${upstreamImage}`,
    `RUN apt-get update && apt-get install -y --no-install-recommends ${wanted} && rm -rf /var/lib/apt/lists/*`,
    `ENV PATH=${searchPath} LANG=C.UTF-8`,
    'CMD ["bash"]',
  ].join("\n");
  const context = tar.pack("/", {
    entries: [],
    finalize: false,
    finish: (pack) => {
      pack.entry({ name: "Dockerfile" }, dockerfile);
      pack.finalize();
    },
  });
  await readProgress(await docker.buildImage(context as unknown as NodeJS.ReadableStream, { t: baseImage, forcerm: true, abortSignal }), report);
  return `${upstreamImage} from its registry, completed by its packages`;
}

async function fromHostPackages(docker: Docker, report: (line: string) => void, signal: AbortSignal): Promise<string> {
  const installed = await hostPackages();
  if (installed === null) {
    throw sandboxError(
      "image-pull",
      `The base image can neither be pulled nor built: ${upstreamImage} does not answer, and this machine's distribution is not a Debian.`,
      `Load an image with sh, coreutils and git by docker load, and tag it ${baseImage}.`,
    );
  }
  const missing = requiredPackages.filter((name) => !installed.has(name));
  if (missing.length > 0) {
    throw sandboxError(
      "image-pull",
      `The base image needs packages that this machine lacks: ${missing.join(", ")}.`,
      `Run apt install ${missing.join(" ")}.`,
    );
  }
  const packed = await packHostPackages(installed, [...requiredPackages, ...optionalPackages], signal);
  report(`Packing ${packed.packages} packages, ${packed.files} files`);
  try {
    const [repo = "", tag = ""] = baseImage.split(":");
    const changes = [`ENV PATH=${searchPath} LANG=C.UTF-8`, 'CMD ["bash"]', "LABEL openforge.base=host-packages"];
    const answer = await docker.importImage(packed.archive, { repo, tag, changes, abortSignal: signal });
    await readProgress(answer, report);
    await packed.done;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof WorkbenchError) throw error;
    throw sandboxError("image-build", `The base image cannot be packed: ${reasonOf(error)}.`, "Check the free disk of Docker's folder.");
  } finally {
    await packed.clean();
  }
  return `${packed.packages} packages of this machine's own distribution`;
}
