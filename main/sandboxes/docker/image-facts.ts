/** Starts an image once to learn what it is and whether the Node that we bring runs in it. Cached by image id. */
import type Docker from "dockerode";
import { z } from "zod";
import type { ServiceHealthcheck } from "../compose/project.ts";
import { insidePaths } from "../contract.ts";
import { unavailable } from "../sandbox-error.ts";
import { reasonOf } from "./engine.ts";
import { FrameReader } from "./frames.ts";
import { imageFactsSource } from "./inside-programs.ts";

const factsSchema = z.object({
  uid: z.number().int().nonnegative(),
  gid: z.number().int().nonnegative(),
  node: z.string(),
  distribution: z.string(),
  packages: z.string(),
});
type InsideFacts = z.infer<typeof factsSchema>;

export interface ImageFacts extends InsideFacts {
  readonly id: string;
  /** Digest in a registry where it has one, else the image's id. */
  readonly digest: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The image's own account, by name or number. */
  readonly user: string;
  /** Where it starts; null = it does not say. */
  readonly workingDir: string | null;
  readonly entrypoint: readonly string[];
  readonly healthcheck: ServiceHealthcheck | null;
}

const limitMs = 60_000;

/** `user`: an account other than the image's own, by name or number. */
export async function examineImage(docker: Docker, id: string, user: string | null, label: Readonly<Record<string, string>>): Promise<ImageFacts> {
  const image = await docker.getImage(id).inspect();
  const container = await docker.createContainer({
    Image: id,
    Entrypoint: [insidePaths.node, "-e", imageFactsSource],
    Cmd: [],
    ...(user === null ? {} : { User: user }),
    NetworkDisabled: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: { ...label },
    HostConfig: { Mounts: [nodeMount()], NetworkMode: "none", CapDrop: ["ALL"], LogConfig: { Type: "none", Config: {} } },
  });
  const said = { stdout: "", stderr: "" };
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true });
    const frames = new FrameReader((name, payload) => {
      said[name] = (said[name] + payload.toString()).slice(0, 10_000);
    });
    stream.on("data", (packet: Buffer) => frames.push(packet));
    const ended = new Promise((resolve) => stream.on("error", resolve).once("close", resolve).once("end", resolve));
    await container.start();
    await container.wait({ abortSignal: AbortSignal.timeout(limitMs) });
    await ended;
  } catch (error) {
    throw cannotRunNode(image.RepoTags?.[0] ?? id, reasonOf(error));
  } finally {
    await container.remove({ force: true, v: true });
  }
  const facts = parseFacts(said.stdout);
  if (facts === null) throw cannotRunNode(image.RepoTags?.[0] ?? id, said.stderr.trim().split("\n")[0] ?? "");
  return {
    ...facts,
    id: image.Id,
    digest: image.RepoDigests?.[0] ?? image.Id,
    environment: environmentOf(image.Config.Env ?? []),
    user: user ?? (image.Config.User || "0"),
    workingDir: image.Config.WorkingDir || null,
    entrypoint: [image.Config.Entrypoint ?? []].flat(),
    healthcheck: healthcheckOf(image.Config.Healthcheck),
  };
}

/** The service's own Node, at its place inside. */
export function nodeMount(): Docker.MountSettings {
  return { Type: "bind", Source: process.execPath, Target: insidePaths.node, ReadOnly: true };
}

function parseFacts(text: string): InsideFacts | null {
  try {
    return factsSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

const nanoseconds = 1_000_000;

function healthcheckOf(check: Docker.HealthConfig | undefined): ServiceHealthcheck | null {
  if (check?.Test === undefined) return null;
  const inMs = (value: number | undefined): number | null => (value ? value / nanoseconds : null);
  return {
    test: check.Test,
    intervalMs: inMs(check.Interval),
    timeoutMs: inMs(check.Timeout),
    startPeriodMs: inMs(check.StartPeriod),
    retries: check.Retries || null,
  };
}

function environmentOf(entries: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}

function cannotRunNode(image: string, detail: string): Error {
  return unavailable(
    `The image ${image} cannot run the Node that the workbench brings (${detail || "no answer from inside"}).`,
    "Use an image for this processor with glibc and libstdc++ (Debian, Ubuntu, Fedora); Alpine and other musl images lack glibc.",
  );
}
