/** The model's address inside a box: a port of its loopback, from which the service passes the bytes to the rollout's proxy socket. */
import { connect, type Socket } from "node:net";
import { modelPort } from "../proxy-link.ts";
import { type InsidePort, openInsidePort } from "./inside-port.ts";
import type { Launcher } from "./launcher.ts";

export async function openModelPort(launcher: Launcher, enterNetwork: readonly string[], proxySocket: string): Promise<InsidePort> {
  const open = new Set<Socket>();
  const port = await openInsidePort(launcher, enterNetwork, modelPort, (inside) => {
    const outside = connect({ path: proxySocket, allowHalfOpen: true });
    // Each side may close its sending half first; by default the answer would be cut short then.
    inside.allowHalfOpen = true;
    passOn(inside, outside);
    passOn(outside, inside);
    for (const socket of [inside, outside]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }
  });
  return {
    close: () => {
      port.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function passOn(from: Socket, to: Socket): void {
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}
