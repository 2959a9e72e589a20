/**
 * What the services of one project share: private networks, on which nobody but they can be reached, and volumes. All carry the labels of
 * their rollout, and go with it.
 */
import { randomBytes, randomInt } from "node:crypto";
import type Docker from "dockerode";
import type { ComposeProject, ComposeService } from "../../compose/project.ts";
import { sandboxError } from "../../sandbox-error.ts";
import { answered, lostOr, reasonOf, statusOf } from "../engine.ts";

export interface ProjectPlace {
  readonly labels: Readonly<Record<string, string>>;
  /** By the engine's names; none when `main` is alone. */
  readonly networks: readonly string[];
  /** Engine's name of a container, network or volume of the project. */
  nameOf(part: string): string;
  /** Networks of a service by the engine's names. */
  networksOf(service: ComposeService): readonly { readonly name: string; readonly aliases: readonly string[] }[];
  mountsOf(service: ComposeService): Docker.MountSettings[];
  remove(): Promise<void>;
}

/** Private and never routed: the bridge has no address, so this machine is not on it. */
const subnet = (): string => `10.213.${randomInt(256)}.${randomInt(4) * 64}/26`;
const subnetTries = 40;

export async function makeProjectPlace(docker: Docker, project: ComposeProject, labels: Readonly<Record<string, string>>): Promise<ProjectPlace> {
  const id = randomBytes(6).toString("hex");
  const nameOf = (part: string): string => `openforge-${id}-${part}`;
  // A box that is alone has nobody to talk to.
  const networks = project.services.length === 1 ? [] : project.networks;
  const place: ProjectPlace = {
    labels,
    nameOf,
    networks: networks.map(nameOf),
    networksOf: (service) =>
      service.networks.filter(({ name }) => networks.includes(name)).map(({ name, aliases }) => ({ name: nameOf(name), aliases })),
    mountsOf: (service) => [
      ...service.volumes.map(({ source, target, readOnly }): Docker.MountSettings => {
        // The engine's type wants a source for a volume without a name, too.
        return { Type: "volume", Source: source === null ? "" : nameOf(source), Target: target, ReadOnly: readOnly };
      }),
      ...service.packageMounts
        .filter(({ readOnly }) => readOnly)
        .map(({ hostPath, target }): Docker.MountSettings => ({ Type: "bind", Source: hostPath, Target: target, ReadOnly: true })),
    ],
    remove: async () => {
      await Promise.all(networks.map((name) => removeNetwork(docker, nameOf(name))));
      await Promise.all(project.volumes.map((name) => removeVolume(docker, nameOf(name))));
    },
  };
  try {
    for (const name of networks) await makeNetwork(docker, nameOf(name), labels);
    for (const name of project.volumes) await answered(docker.createVolume({ Name: nameOf(name), Labels: labels }));
    return place;
  } catch (error) {
    await place.remove();
    throw lostOr(error, (reason) => sandboxError("setup-failed", `Docker cannot make what the services share: ${reason}.`, "Check Docker's log."));
  }
}

async function makeNetwork(docker: Docker, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await answered(
        docker.createNetwork({
          Name: name,
          Driver: "bridge",
          Internal: true,
          CheckDuplicate: true,
          IPAM: { Driver: "default", Config: [{ Subnet: subnet() }] },
          Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
          Labels: labels,
        }),
      );
      return;
    } catch (error) {
      if (tries >= subnetTries || !/overlaps/i.test(reasonOf(error))) throw error;
    }
  }
}

async function removeNetwork(docker: Docker, name: string): Promise<void> {
  await answered(docker.getNetwork(name).remove()).catch(unlessGone("network", name));
}

async function removeVolume(docker: Docker, name: string): Promise<void> {
  await answered(docker.getVolume(name).remove()).catch(unlessGone("volume", name));
}

function unlessGone(kind: string, name: string): (error: unknown) => void {
  return (error) => {
    if (statusOf(error) === 404) return;
    throw lostOr(error, (reason) =>
      sandboxError("sandbox-lost", `Docker cannot remove the ${kind} ${name}: ${reason}.`, `Remove it by docker ${kind} rm.`),
    );
  };
}

/** Networks and volumes with this label whose rollout nobody keeps. */
export async function removeLeftPlaces(docker: Docker, label: string, isKept: (labels: Readonly<Record<string, string>>) => boolean): Promise<void> {
  const filters = { label: [label] };
  for (const { Name, Labels } of await answered(docker.listNetworks({ filters }))) {
    if (!isKept(Labels ?? {})) await removeNetwork(docker, Name);
  }
  const { Volumes } = await answered(docker.listVolumes({ filters }));
  for (const { Name, Labels } of Volumes ?? []) if (!isKept(Labels ?? {})) await removeVolume(docker, Name);
}
