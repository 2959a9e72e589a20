import type Docker from "dockerode";
import { sandboxError } from "../sandbox-error.ts";
import { answered, lostOr, reasonOf, statusOf } from "./engine.ts";

const publicNetwork = "openforge-public";

/** One bridge for all sandboxes that may reach the outside; they do not reach each other on it. Made on first use, kept. */
export async function ensurePublicNetwork(docker: Docker): Promise<string> {
  try {
    await docker.getNetwork(publicNetwork).inspect();
    return publicNetwork;
  } catch (error) {
    if (statusOf(error) !== 404) throw noNetwork(error);
  }
  try {
    await docker.createNetwork({
      Name: publicNetwork,
      Driver: "bridge",
      CheckDuplicate: true,
      Options: { "com.docker.network.bridge.enable_icc": "false" },
      Labels: { "openforge.network": "public" },
    });
  } catch (error) {
    // Another rollout was first.
    if (statusOf(error) !== 409) throw noNetwork(error);
  }
  return publicNetwork;
}

/** Gives a container a way out or takes it. `alone`: it is in no other network, and without a way out in `none`. */
export async function switchPublic(docker: Docker, container: Docker.Container, isPublic: boolean, alone: boolean): Promise<void> {
  try {
    const [from, to] = isPublic ? ["none", await ensurePublicNetwork(docker)] : [publicNetwork, "none"];
    if (alone || !isPublic) await answered(docker.getNetwork(from).disconnect({ Container: container.id, Force: true }));
    if (alone || isPublic) await answered(docker.getNetwork(to).connect({ Container: container.id }));
  } catch (error) {
    throw lostOr(error, (reason) =>
      sandboxError("setup-failed", `Docker cannot give the container another network: ${reason}.`, "Check Docker's log."),
    );
  }
}

function noNetwork(error: unknown): Error {
  return sandboxError("setup-failed", `Docker cannot make the network ${publicNetwork}: ${reasonOf(error)}.`, "Check docker network ls for clashes.");
}
