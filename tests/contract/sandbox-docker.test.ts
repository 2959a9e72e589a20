import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareImages, type SandboxImage, sandboxCauseOf, sandboxProviders } from "../../main/sandboxes/index.ts";
import { ownerId, run, sandboxContract, sandboxRequest, text } from "./sandbox-contract.ts";

const provider = sandboxProviders({ stateFolder: tmpdir() }).docker;
const { ready, detail } = await provider.probe();

describe.skipIf(!ready)(`docker sandbox${ready ? "" : ` (skipped: ${detail})`}`, () => {
  const docker = new Docker();
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "of-docker-"));
    const prepared = await prepareImages(() => undefined);
    expect(prepared.image).toBe("openforge/base:1");
  });

  afterAll(async () => {
    // What a failed test left.
    await provider.reap(ownerId, new Set());
    await rm(folder, { recursive: true, force: true });
  });

  sandboxContract("docker", {
    provider: () => provider,
    lose: async (rolloutId) => {
      const found = await docker.listContainers({ filters: { label: [`openforge.rollout=${rolloutId}`] } });
      for (const { Id } of found) await docker.getContainer(Id).kill();
    },
  });

  const context = async (name: string, dockerfile: string, files: Readonly<Record<string, string>> = {}): Promise<SandboxImage> => {
    const contextFolder = join(folder, name);
    await mkdir(contextFolder, { recursive: true });
    for (const [path, content] of Object.entries({ Dockerfile: dockerfile, ...files })) await writeFile(join(contextFolder, path), content);
    return { kind: "build", contextFolder, timeoutMs: 120_000 };
  };
  const failure = async (image: SandboxImage): Promise<unknown> =>
    provider
      .create(sandboxRequest({ image }), () => undefined)
      .then(
        (box) => box.destroy(),
        (error: unknown) => error,
      );

  it("builds a task's image once for all that need it at the same time, and never again", async () => {
    const unique = `${process.pid}-${Date.now()}`;
    const image = await context("once", `FROM openforge/base:1\nRUN echo building; sleep 1; echo ${unique} > /built\nCOPY data.txt /app/\n`, {
      "data.txt": "in",
    });
    const lines: string[][] = [[], [], []];
    const boxes = await Promise.all(lines.map((said) => provider.create(sandboxRequest({ image }), (line) => said.push(line))));
    expect(new Set(boxes.map((box) => box.fingerprint.imageId)).size).toBe(1);
    for (const said of lines) expect(said.filter((line) => line === "building")).toHaveLength(1);
    expect(text((await run(boxes[0] ?? (await provider.create(sandboxRequest(), () => undefined)), "cat /built /app/data.txt")).stdout)).toBe(
      `${unique}\nin`,
    );
    const again: string[] = [];
    boxes.push(await provider.create(sandboxRequest({ image }), (line) => again.push(line)));
    expect(again).toEqual([]);
    await Promise.all(boxes.map((box) => box.destroy()));
    await docker.getImage(boxes[0]?.fingerprint.imageId ?? "").remove({ force: true });
  });

  it("tells a missing image, a broken build and a slow build apart", async () => {
    const unknown = await failure({ kind: "image", reference: "no-such-registry.invalid/nothing:1" });
    expect(sandboxCauseOf(unknown)).toBe("image-pull");
    expect(sandboxCauseOf(await failure({ kind: "image", reference: "openforge/nothing:1" }))).toBe("image-pull");
    expect(sandboxCauseOf(await failure(await context("base", "FROM no-such-registry.invalid/nothing:1\n")))).toBe("image-pull");
    const broken = await failure(await context("broken", "FROM openforge/base:1\nRUN echo the reason; exit 3\n"));
    expect(sandboxCauseOf(broken)).toBe("image-build");
    expect(String(broken)).toContain("the reason");
    expect(sandboxCauseOf(await failure(await context("syntax", "FROM openforge/base:1\nNONSENSE\n")))).toBe("image-build");
    const slow = await context("slow", "FROM openforge/base:1\nRUN sleep 60\n");
    const begin = Date.now();
    expect(sandboxCauseOf(await failure({ ...slow, timeoutMs: 1500 } as SandboxImage))).toBe("image-build");
    expect(Date.now() - begin).toBeLessThan(10_000);
  });

  it("builds what only BuildKit can", async () => {
    const dockerfile = `FROM openforge/base:1 AS parts
RUN --mount=type=cache,target=/var/cache/mine echo kept ${Date.now()} > /var/cache/mine/x && cp /var/cache/mine/x /x
FROM openforge/base:1
ARG TARGETARCH
COPY --from=parts --chmod=750 /x /x
RUN echo "for $TARGETARCH" > /arch; stat -c %a /x >> /arch
`;
    const said: string[] = [];
    const box = await provider.create(sandboxRequest({ image: await context("kit", dockerfile) }), (line) => said.push(line));
    expect(text((await run(box, "cat /arch /x")).stdout)).toMatch(/^for (?:amd64|arm64)\n750\nkept \d+\n$/);
    expect(said.join("\n")).toContain("RUN --mount=type=cache");
    await box.destroy();
    await docker.getImage(box.fingerprint.imageId ?? "").remove({ force: true });
    const broken = await failure(await context("kit-broken", "FROM openforge/base:1\nRUN --mount=type=tmpfs,target=/t echo the reason; exit 3\n"));
    expect(sandboxCauseOf(broken)).toBe("image-build");
    expect(String(broken)).toContain("the reason");
  });

  it("stops a build that nobody waits for any more", async () => {
    const image = await context("given-up", "FROM openforge/base:1\nRUN sleep 61\n");
    const stop = new AbortController();
    const waiting = provider.create(sandboxRequest({ image }), (line) => line.includes("sleep 61") && stop.abort(new Error("given up")), stop.signal);
    await expect(waiting).rejects.toThrow("given up");
  });

  it("refuses an image that cannot run our Node, with a sentence", async () => {
    const error = await failure(await context("empty", "FROM scratch\nCOPY data.txt /\n", { "data.txt": "nothing to run" }));
    expect(error).toMatchObject({ code: "unavailable", exitCode: 3, message: expect.stringContaining("cannot run the Node") });
  });

  it("runs as the image's own account, and as another where the task names one", async () => {
    const dockerfile =
      "FROM openforge/base:1\nRUN echo 'agent:x:1234:1234::/home/agent:/bin/sh' >> /etc/passwd && mkdir -p /home/agent && chown 1234:1234 /home/agent\nUSER agent\n";
    const box = await provider.create(sandboxRequest({ image: await context("user", dockerfile), workdir: "/srv/here" }), () => undefined);
    await box.writeFile("/srv/here/given.txt", Buffer.from("given"));
    const own = await run(box, "id -u; echo $HOME; touch mine /logs/agent/log; echo more >> given.txt; cat given.txt");
    expect(text(own.stdout)).toBe("1234\n/home/agent\ngivenmore\n");
    expect(text((await run(box, "id -u; touch /logs/verifier/reward.txt && echo graded", { user: "0" })).stdout)).toBe("0\ngraded\n");
    const background = await run(box, "sleep 605 >/dev/null 2>&1 & echo left", { user: "0" });
    expect(background.exitCode).toBe(0);
    await run(box, "sleep 606 >/dev/null 2>&1 & echo left");
    await box.killAll();
    expect(text((await run(box, "ps -eo args | grep -c '[s]leep 60'")).stdout).trim()).toBe("0");
    await expect(run(box, "true", { user: "nobody-at-all" })).rejects.toMatchObject({
      code: "sandbox",
      message: expect.stringContaining("nobody-at-all"),
    });
    await box.destroy();
  });

  it("gives a public task a network of its own, and installers their rights", async () => {
    const box = await provider.create(sandboxRequest({ network: { mode: "public", allowedHosts: [] } }), () => undefined);
    const seen = await run(box, "ls /sys/class/net; touch /tmp/x && chown 1000 /tmp/x && echo chowned");
    expect(text(seen.stdout)).toMatch(/eth0\nlo\nchowned\n/);
    expect(box.isolation.network).toContain("outgoing");
    await box.destroy();
  });

  it("is a sandbox-lost when the container is removed under it", async () => {
    const request = sandboxRequest();
    const box = await provider.create(request, () => undefined);
    await run(box, "true");
    for (const { Id } of await docker.listContainers({ filters: { label: [`openforge.rollout=${request.rolloutId}`] } }))
      await docker.getContainer(Id).remove({ force: true });
    expect(sandboxCauseOf(await run(box, "true").catch((error: unknown) => error))).toBe("sandbox-lost");
    await box.destroy();
  });
});

describe("docker without an engine", () => {
  it("says in one sentence what to do, for a missing socket and for a dead one", async () => {
    const missing = sandboxProviders({ stateFolder: tmpdir(), dockerSocket: "/tmp/no-docker-here.sock" }).docker;
    await expect(missing.create(sandboxRequest(), () => undefined)).rejects.toMatchObject({
      code: "unavailable",
      exitCode: 3,
      message: expect.stringContaining("/tmp/no-docker-here.sock"),
    });
    expect(await missing.probe()).toMatchObject({ ready: false, remedy: expect.stringContaining("systemctl start docker") });
    expect(await missing.reap("anyone", new Set())).toEqual([]);

    const path = join(tmpdir(), `of-dead-${process.pid}.sock`);
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const dead = sandboxProviders({ stateFolder: tmpdir(), dockerSocket: path }).docker;
    await expect(dead.create(sandboxRequest(), () => undefined)).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining("does not answer"),
    });
    server.close();
  });

  it("does not wait for one that never answers", async () => {
    const path = join(tmpdir(), `of-mute-${process.pid}.sock`);
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const begin = Date.now();
    expect(await sandboxProviders({ stateFolder: tmpdir(), dockerSocket: path }).docker.probe()).toMatchObject({ ready: false });
    expect(Date.now() - begin).toBeLessThan(15_000);
    server.close();
  });
});
