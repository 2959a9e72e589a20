/** What an image brings beside its files: ENTRYPOINT, WORKDIR and HEALTHCHECK, which Harbor leaves as they are. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Docker from "dockerode";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Sandbox, type SandboxImage, type SandboxRequest, sandboxCauseOf, sandboxProviders } from "../../main/sandboxes/index.ts";
import { run, sandboxRequest, text } from "./sandbox-contract.ts";

const provider = sandboxProviders({ stateFolder: join(tmpdir(), "image-program") }).docker;
const { ready, detail } = await provider.probe();
const ownerId = `image-program-${process.pid}`;

describe.skipIf(!ready)(`what an image starts${ready ? "" : ` (skipped: ${detail})`}`, () => {
  const docker = new Docker();
  const boxes: Sandbox[] = [];
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "image-program-"));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const box of boxes.splice(0)) await box.destroy();
  });
  afterAll(async () => {
    await provider.reap(ownerId, new Set());
    for (const { Id, RepoTags } of await docker.listImages({ filters: { label: ["image-program-test=1"] } })) {
      for (const name of RepoTags ?? [Id]) await docker.getImage(name).remove({ force: true });
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function context(files: Readonly<Record<string, string>>): Promise<SandboxImage> {
    const contextFolder = await mkdtemp(join(folder, "context-"));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(contextFolder, path)), { recursive: true });
      await writeFile(join(contextFolder, path), content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
    }
    return { kind: "build", contextFolder, timeoutMs: 120_000 };
  }
  const from = (lines: string): string => `FROM openforge/base:1\nLABEL image-program-test=1\n${lines}\n`;
  /** With an entrypoint of this shell text. */
  const withEntrypoint = (script: string, lines = ""): Promise<SandboxImage> =>
    context({ Dockerfile: from(`COPY entry.sh /entry.sh\n${lines}\nENTRYPOINT ["/entry.sh"]`), "entry.sh": `#!/bin/sh\n${script}\n` });
  async function open(image: SandboxImage, changes: Partial<SandboxRequest> = {}): Promise<Sandbox> {
    const box = await provider.create(sandboxRequest({ ownerId, image, workdir: null, ...changes }), () => undefined);
    boxes.push(box);
    return box;
  }
  const say = async (box: Sandbox, script: string): Promise<string> => text((await run(box, script)).stdout).trim();
  /** Of a box whose first use fails. */
  async function failure(image: SandboxImage): Promise<unknown> {
    return run(await open(image), "true").catch((error: unknown) => error);
  }

  const service = 'echo "$@" > /run/given; echo "$PLACE $(pwd) $(id -u)" > /run/where; sleep 7001 & (sleep 7002 & wait) & exec "$@"';

  it.each(["as root on the engine's machine", "as somebody else"])("an entrypoint runs as in Harbor and outlives the agent, %s", async (who) => {
    // Then the files are not reached, and processes are ended from inside.
    if (who === "as somebody else") vi.spyOn(process, "geteuid").mockReturnValue(1000);
    const box = await open(await withEntrypoint(service, "WORKDIR /srv/site"), { environment: { PLACE: "here" } });
    expect(box.workdir).toBe("/srv/site");
    expect(await say(box, "cat /run/given /run/where; pwd")).toBe("sh -c sleep infinity\nhere /srv/site 0\n/srv/site");
    expect(box.isolation.processes).toContain("package installers");
    const alive = 'ps -eo args | grep -E "^sleep (7|8)" | sort | tr "\\n" " "';
    await run(box, "sleep 8001 & setsid sleep 8002 >/dev/null 2>&1 & (trap '' TERM; sleep 8003) & echo");
    await box.killAll();
    expect(await say(box, alive)).toBe("sleep 7001 sleep 7002");
    // Its name is not its pass: an agent that takes over a process of the environment is ended.
    await run(box, "pkill -9 -f 'sleep 7001'; sleep 7001 >/dev/null 2>&1 & echo");
    await box.killAll();
    expect(await say(box, alive)).toBe("sleep 7002");
  });

  it("an account of the image starts what it may", async () => {
    const box = await open(await withEntrypoint('id -u > /tmp/who; exec "$@"', "USER 1234:1234"));
    expect(await say(box, "cat /tmp/who; pwd")).toBe("1234\n/");
    expect(box.isolation.processes).toContain("no capabilities");
  });

  it("a service that becomes another account can", async () => {
    const box = await open(await withEntrypoint('touch /data; chown 4321 /data; setpriv --reuid 4321 --clear-groups touch /tmp/mine; exec "$@"'));
    expect(await say(box, "stat -c %u /data /tmp/mine")).toBe("4321\n4321");
  });

  it("where an image names no folder, its agent works where Harbor's does, and from the base image in /app", async () => {
    expect((await open(await context({ Dockerfile: from("RUN true") }))).workdir).toBe("/");
    expect((await open({ kind: "host" })).workdir).toBe("/app");
    const named = await open(await context({ Dockerfile: from('ARG PLACE=/var/www\nWORKDIR "$PLACE"\nWORKDIR html') }));
    expect(await say(named, "pwd")).toBe("/var/www/html");
    expect(await say(await open(await context({ Dockerfile: from("WORKDIR /a") }), { workdir: "/b/c" }), "pwd")).toBe("/b/c");
  });

  it("one that ends, whatever its reason, is a failure of the environment with its last words", async () => {
    const dies = await failure(await withEntrypoint("echo starting; sleep 0.2; echo no licence >&2; exit 7"));
    expect(sandboxCauseOf(dies)).toBe("setup-failed");
    expect(dies).toMatchObject({
      message: "The entrypoint of the image ended with exit code 7 before the agent began; it said: starting | no licence.",
      remedy: expect.stringContaining('exec "$@"'),
    });
    const forgets = await failure(await withEntrypoint("sleep 7003 & echo set up"));
    expect(forgets).toMatchObject({ message: "The entrypoint of the image ended with exit code 0 before the agent began; it said: set up." });
    const missing = await failure(await context({ Dockerfile: from('ENTRYPOINT ["/no/such/program"]') }));
    expect(missing).toMatchObject({ message: expect.stringMatching(/^The entrypoint of the image ended with exit code 12[67] .*no such file/) });
    const filters = { label: [`openforge.owner=${ownerId}`] };
    for (const box of boxes.splice(0)) await box.destroy();
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  });

  it("one that is a server itself is ready when its healthcheck says so", async () => {
    const serve = "sleep 1; exec python3 -m http.server 8080 --directory /srv";
    const health = "HEALTHCHECK --interval=200ms --retries=30 CMD python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8080/')\"";
    const box = await open(await withEntrypoint(serve, `RUN mkdir -p /srv && echo plum > /srv/word\n${health}`));
    const ask = "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8080/word').read().decode())\"";
    expect(await say(box, ask)).toBe("plum");
    await box.killAll();
    expect(await say(box, ask)).toBe("plum");
  });

  it("a healthcheck that does not pass is told, and one in a step of its own is kept", async () => {
    const sick = await failure(await context({ Dockerfile: from("HEALTHCHECK --interval=100ms --retries=2 CMD echo no pulse; exit 1") }));
    expect(sandboxCauseOf(sick)).toBe("setup-failed");
    expect(sick).toMatchObject({ message: "The healthcheck of the image or of main in the compose file does not pass: no pulse." });
    const none = await open(await context({ Dockerfile: from("HEALTHCHECK NONE") }));
    expect(await say(none, "echo fine")).toBe("fine");
  });

  it("main of a compose file may start a program, too", async () => {
    const root = await mkdtemp(join(folder, "project-"));
    await mkdir(join(root, "environment"), { recursive: true });
    const file = join(root, "environment", "docker-compose.yaml");
    const openProject = async (compose: string): Promise<Sandbox> => {
      await writeFile(file, compose);
      return open({ kind: "compose", file, root, main: { kind: "host" }, variables: {}, buildTimeoutMs: 120_000 });
    };
    const box = await openProject(
      "services:\n  main:\n    working_dir: /srv\n    command: bash -c 'pwd > /tmp/where; sleep 7004 & sleep infinity'\n",
    );
    expect(await say(box, "cat /tmp/where; pwd")).toBe("/srv\n/srv");
    await box.killAll();
    expect(await say(box, "pgrep -f -c '^sleep 7004'")).toBe("1");
    const dying = await run(await openProject("services:\n  main: { command: \"sh -c 'echo bye; exit 3'\" }\n"), "true").catch(
      (error: unknown) => error,
    );
    expect(dying).toMatchObject({ message: expect.stringMatching(/^The program that main runs \(sh -c .*ended with exit code 3 .*it said: bye\.$/) });
  });
});
