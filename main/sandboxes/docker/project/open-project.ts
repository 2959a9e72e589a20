/** From a compose file to its images and a project that runs: all of it but `main`. */
import type Docker from "dockerode";
import { type ComposeProject, type ComposeService, mainService, type ServiceImage } from "../../compose/project.ts";
import { readCompose } from "../../compose/read-compose.ts";
import type { ComposeImage, SandboxRequest, SingleImage } from "../../contract.ts";
import { proxyVariables } from "../../egress/proxy-variables.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { isEverPublic, labelsOf } from "../container.ts";
import type { ImageSource } from "../images.ts";
import { ComposeRun } from "./compose-run.ts";

export interface PreparedProject {
  readonly project: ComposeProject;
  readonly main: ComposeService;
  readonly mainImageId: string;
  /** Neither the file nor the task names an image for it. */
  readonly mainIsBase: boolean;
  /** Of the other services. */
  readonly imageIds: ReadonlyMap<string, string>;
}

type Report = (line: string) => void;

/** Reads the file and brings every image. */
export async function prepareProject(
  image: ComposeImage,
  { limits }: SandboxRequest,
  images: ImageSource,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<PreparedProject> {
  const { project, problems } = await readCompose({ ...image, limits });
  const [problem] = problems;
  if (project === null) {
    throw sandboxError("setup-failed", `${image.file}:${problem?.line}: ${problem?.message}`, "See `openforge task check` for every fault.");
  }
  const bring = (wanted: ServiceImage): Promise<string> =>
    wanted.kind === "image" ? images.resolve(wanted, report, signal) : images.build({ ...wanted, timeoutMs: image.buildTimeoutMs }, report, signal);
  /** As in Harbor: an image that the task names stands for what would be built; the file's own image stands for both. */
  const bringMain = (own: ServiceImage | null, usual: SingleImage): Promise<string> => {
    if (own === null || (own.kind === "build" && usual.kind === "image")) return images.resolve(usual, report, signal);
    return bring(own);
  };
  const imageIds = new Map<string, string>();
  const main = project.services.find(({ name }) => name === mainService);
  if (main === undefined) throw new Error("a project without main");
  const mainImageId = await bringMain(main.image, image.main);
  for (const { name, image: own } of project.services) if (own !== null && name !== mainService) imageIds.set(name, await bring(own));
  return { project, main, mainImageId, mainIsBase: main.image === null && image.main.kind === "host", imageIds };
}

export function startProject(
  docker: Docker,
  { project, imageIds }: PreparedProject,
  request: SandboxRequest,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<ComposeRun> {
  const listed = [request.network, ...(request.laterNetworks ?? [])].some(({ mode }) => mode === "allowlist");
  const names = project.services.map(({ name }) => name);
  return ComposeRun.start(
    {
      ...{ docker, request, project, imageIds, report },
      labels: labelsOf(request),
      // The box's own forwarder takes them out.
      variables: listed ? proxyVariables(names, mainService) : {},
      everPublic: isEverPublic(request),
    },
    signal,
  );
}

/** The request with what the file says of `main`. */
export function requestOfMain(request: SandboxRequest, main: ComposeService): SandboxRequest {
  return {
    ...request,
    limits: {
      ...request.limits,
      ...(main.memoryBytes === null ? {} : { memoryMb: Math.ceil(main.memoryBytes / 1024 ** 2) }),
      ...(main.cpus === null ? {} : { cpus: main.cpus }),
      ...(main.processes === null || main.processes <= 0 ? {} : { processes: main.processes }),
    },
  };
}
