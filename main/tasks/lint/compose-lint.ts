/** Warnings about a compose file: rights it takes on the host, and names that make two rollouts collide. */
import { posix } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import type { CommandFinding } from "./command-lint.ts";

const composeSchema = z.looseObject({
  services: z.record(
    z.string(),
    z
      .looseObject({
        privileged: z.unknown().optional(),
        cap_add: z.unknown().optional(),
        container_name: z.unknown().optional(),
        ports: z.unknown().optional(),
        volumes: z.array(z.unknown()).optional(),
      })
      .nullable(),
  ),
});

/** `folder`: where the file lies in the package. */
export function lintCompose(source: string, folder: string): CommandFinding[] {
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter });
  const [error] = document.errors;
  if (error !== undefined) return [{ line: counter.linePos(error.pos[0]).line, message: `This is not valid YAML: ${error.message.split("\n")[0]}` }];
  const lineOf = (path: readonly (string | number)[]): number => {
    const node = document.getIn(path, true);
    const range = typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range) ? (node.range as number[]) : null;
    if (range !== null) return counter.linePos(range[0] ?? 0).line;
    return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
  };
  const result = composeSchema.safeParse(document.toJS());
  if (!result.success) return [{ line: 1, message: "A compose file needs a table of services." }];
  return Object.entries(result.data.services).flatMap(([name, service]) => {
    const at = (key: string, message: string): CommandFinding => ({
      line: lineOf(["services", name, key]),
      message: `services.${name}.${key}: ${message}`,
    });
    const findings: CommandFinding[] = [];
    if (service?.privileged === true) findings.push(at("privileged", "a privileged container can do everything on the host; remove it."));
    if (Array.isArray(service?.cap_add) && service.cap_add.length > 0)
      findings.push(at("cap_add", "capabilities are asked for; leave out those that are not needed."));
    if (service?.container_name !== undefined) findings.push(at("container_name", "two rollouts at once collide on a fixed name; remove it."));
    if (Array.isArray(service?.ports) && service.ports.some(takesHostPort))
      findings.push(at("ports", "two rollouts at once collide on a port of the host; remove it."));
    service?.volumes?.forEach((volume, index) => {
      const mount = mountOf(volume);
      if (mount === null) return;
      const line = lineOf(["services", name, "volumes", index]);
      const place = `services.${name}.volumes[${index}]`;
      if (!mount.readOnly)
        findings.push({ line, message: `${place}: a writable mount lets the container change the host's files; make it read-only or a volume.` });
      if (posix.isAbsolute(mount.source) || mount.source.startsWith("~") || posix.join(folder, mount.source).startsWith("..")) {
        findings.push({ line, message: `${place}: ${mount.source} lies outside the task package.` });
      }
    });
    return findings;
  });
}

const takesHostPort = (port: unknown) =>
  typeof port === "string" ? port.includes(":") : typeof port === "object" && port !== null && "published" in port;

/** A bind mount; a named volume is none. */
function mountOf(volume: unknown): { readonly source: string; readonly readOnly: boolean } | null {
  if (typeof volume === "string") {
    const [source = "", target, options = ""] = volume.split(":");
    return target === undefined || !/^[./~]/.test(source) ? null : { source, readOnly: options.split(",").includes("ro") };
  }
  const mount = z.looseObject({ type: z.literal("bind"), source: z.string(), read_only: z.boolean().optional() }).safeParse(volume);
  return mount.success ? { source: mount.data.source, readOnly: mount.data.read_only === true } : null;
}
