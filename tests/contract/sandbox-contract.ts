/** What every kind of sandbox must do, told by what a rollout sees. Run by one test file a kind. */
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WorkbenchError } from "../../main/errors.ts";
import {
  type ExecRequest,
  type ExecResult,
  insidePaths,
  type Sandbox,
  type SandboxProvider,
  type SandboxRequest,
  sandboxCauseOf,
} from "../../main/sandboxes/index.ts";

export interface ContractOptions {
  provider(): SandboxProvider;
  /** Ends the box's first process from outside, as an out-of-memory kill or a crashed engine would. */
  lose(rolloutId: string): Promise<void>;
}

export const ownerId = `contract-${process.pid}`;

export function sandboxRequest(changes: Partial<SandboxRequest> = {}): SandboxRequest {
  return {
    rolloutId: `rollout-${Math.random().toString(36).slice(2)}`,
    ownerId,
    image: { kind: "host" },
    network: { mode: "no-network", allowedHosts: [] },
    limits: {},
    workdir: "/app",
    proxySocket: null,
    ...changes,
  };
}

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

export function run(sandbox: Sandbox, script: string, changes: Partial<ExecRequest> = {}, signal?: AbortSignal): Promise<ExecResult> {
  return sandbox.exec({ command: ["sh", "-c", script], timeoutMs: 30_000, outputLimitBytes: 1_000_000, ...changes }, signal);
}

/** What runs inside besides the box's own first processes and the one that looks. */
async function strangers(sandbox: Sandbox): Promise<readonly string[]> {
  const look = `const fs = require("node:fs"); for (const pid of fs.readdirSync("/proc")) { if (!(pid > 1) || pid == process.pid) continue;
    try { const state = fs.readFileSync("/proc/" + pid + "/stat", "utf8"); if (/\\) Z /.test(state)) continue;
    console.log(fs.readFileSync("/proc/" + pid + "/cmdline", "utf8").replace(/[\\0\\n]/g, " ").trim()); } catch {} }`;
  const { stdout } = await sandbox.exec({ command: [insidePaths.node, "-e", look], timeoutMs: 20_000, outputLimitBytes: 100_000 });
  return text(stdout)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(`${insidePaths.node} -e`));
}

export function sandboxContract(kind: string, options: ContractOptions): void {
  const request = sandboxRequest;
  const boxes: Sandbox[] = [];
  const create = async (changes: Partial<SandboxRequest> = {}): Promise<Sandbox> => {
    const sandbox = await options.provider().create(request(changes), () => undefined);
    boxes.push(sandbox);
    return sandbox;
  };
  let shared: Sandbox;
  let folder: string;
  let server: Server;
  let proxySocket: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "of-box-"));
    proxySocket = join(folder, "model.sock");
    server = createServer((incoming, answer) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        answer.write(`${incoming.method} ${incoming.url} ${Buffer.concat(chunks).length};`);
        setTimeout(() => answer.end("end"), 30);
      });
    });
    await new Promise<void>((resolve) => server.listen(proxySocket, resolve));
    shared = await create({ proxySocket });
  });

  afterAll(async () => {
    await Promise.all(boxes.map((box) => box.destroy()));
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  describe(`${kind}: a command`, () => {
    it("gives its exit code and both streams apart, byte for byte", async () => {
      const result = await run(shared, "printf 'a\\377\\000b'; printf 'c' >&2; exit 7");
      expect(result.exitCode).toBe(7);
      expect([...result.stdout]).toEqual([0x61, 0xff, 0, 0x62]);
      expect(text(result.stderr)).toBe("c");
      expect(result).toMatchObject({ timedOut: false, droppedBytes: 0, outOfMemory: false });
    });

    it("runs in the working folder unless told otherwise, with the environment it was given and its own", async () => {
      const value = ["$", "{B} $C 'x' $2b$12$Pg"].join("");
      const here = await run(shared, 'pwd; echo "$A"; echo "$LANG"', { env: { A: value } });
      expect(text(here.stdout)).toBe(`/app\n${value}\nC.UTF-8\n`);
      expect(text((await run(shared, "pwd", { cwd: "/tmp" })).stdout)).toBe("/tmp\n");
    });

    it("reads exactly what it is sent, and nothing when nothing is sent", async () => {
      const sent = Buffer.alloc(3_000_000, "0123456789\n");
      const counted = await run(shared, "wc -c", { stdin: sent });
      expect(text(counted.stdout).trim()).toBe("3000000");
      expect(text((await run(shared, "cat; echo over", { timeoutMs: 5000 })).stdout)).toBe("over\n");
      expect((await run(shared, "exec 0<&-; exit 3", { stdin: sent })).exitCode).toBe(3);
    });

    it("keeps the first bytes of each stream and counts the rest", async () => {
      const result = await run(shared, "head -c 300000 /dev/zero; head -c 50 /dev/zero >&2", { outputLimitBytes: 1000 });
      expect([result.stdout.length, result.stderr.length, result.droppedBytes]).toEqual([1000, 50, 299_000]);
    });

    it("shows its output while it runs", async () => {
      const seen: { stream: string; said: string; at: number }[] = [];
      const begin = Date.now();
      await run(shared, "echo one; sleep 0.8; echo two >&2", {
        onOutput: (stream, chunk) => seen.push({ stream, said: text(chunk), at: Date.now() - begin }),
      });
      expect(seen.map(({ stream, said }) => [stream, said])).toEqual([
        ["stdout", "one\n"],
        ["stderr", "two\n"],
      ]);
      expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThan(400);
    });

    it("says how a signal or a missing program ended it, as shells do", async () => {
      expect((await run(shared, "kill -TERM $$; sleep 5")).exitCode).toBe(143);
      const missing = await shared.exec({ command: ["no-such-program"], timeoutMs: 10_000, outputLimitBytes: 1000 });
      expect([126, 127]).toContain(missing.exitCode);
    });

    it("is refused with a sentence when a string is too long for the system", async () => {
      const long = "x".repeat(131_072);
      const refused = shared.exec({ command: ["echo", long], timeoutMs: 1000, outputLimitBytes: 10 });
      await expect(refused).rejects.toMatchObject({
        code: "sandbox",
        message: expect.stringContaining("131073 bytes"),
        remedy: expect.stringContaining("standard input"),
      });
      await expect(run(shared, "true", { env: { A: long } })).rejects.toMatchObject({ message: expect.stringContaining("environment variable A") });
      expect((await shared.exec({ command: ["true", "x".repeat(131_071)], timeoutMs: 10_000, outputLimitBytes: 10 })).exitCode).toBe(0);
    });

    it("is refused with a sentence when its working folder is not there", async () => {
      const error = await run(shared, "true", { cwd: "/no/such/folder" }).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: "sandbox", message: expect.stringContaining("/no/such/folder") });
      expect(sandboxCauseOf(error)).toBe("setup-failed");
    });

    it("runs beside others, in one file system and one process world", async () => {
      const results = await Promise.all(
        [1, 2, 3, 4, 5].map((number) =>
          run(shared, `echo ${number} > /tmp/f${number}; while [ "$(ls /tmp/f* | wc -l)" -lt 5 ]; do sleep 0.1; done; ls /tmp/f* | wc -l`),
        ),
      );
      expect(results.map((result) => text(result.stdout))).toEqual(["5\n", "5\n", "5\n", "5\n", "5\n"]);
    });
  });

  describe(`${kind}: the end of a command`, () => {
    it("comes with its main process, though a child holds the output", async () => {
      const box = await create();
      await run(box, "true");
      const begin = Date.now();
      const result = await run(box, "sleep 600 & echo done", { timeoutMs: 20_000 });
      expect(Date.now() - begin).toBeLessThan(4000);
      expect(result).toMatchObject({ exitCode: 0, timedOut: false });
      expect(text(result.stdout)).toBe("done\n");
      expect(await strangers(box)).toEqual(["sleep 600"]);
      await box.killAll();
      expect(await strangers(box)).toEqual([]);
    });

    it("comes at its time limit for the whole tree, and is proved", async () => {
      const box = await create();
      await run(box, "sleep 900 >/dev/null 2>&1 &");
      const begin = Date.now();
      const result = await run(box, "setsid sh -c 'while :; do :; done' & (sleep 601 &) ; echo begun; while :; do :; done", { timeoutMs: 2000 });
      expect(Date.now() - begin).toBeLessThan(8000);
      expect(result).toMatchObject({ exitCode: null, timedOut: true });
      expect(text(result.stdout)).toBe("begun\n");
      expect(await strangers(box)).toEqual(["sleep 900"]);
    });

    it("comes when its caller gives up, with nothing left", async () => {
      const box = await create();
      await run(box, "true");
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error("given up")), 300);
      await expect(run(box, "sleep 600 & sleep 601", {}, stop.signal)).rejects.toThrow("given up");
      expect(await strangers(box)).toEqual([]);
    });

    it("comes for a program that forks as fast as it can", async () => {
      const box = await create({ limits: { processes: 64 } });
      const bomb = await run(box, "f() { f | f & }; f & exec sleep 600", { timeoutMs: 1500 }).catch((error: unknown) => error);
      if (!(bomb instanceof Error)) expect(bomb).toMatchObject({ timedOut: true });
      await box.killAll();
      expect(await strangers(box)).toEqual([]);
      expect((await run(box, "echo still here")).exitCode).toBe(0);
    });

    it("comes for all by killAll, and the model stays in reach", async () => {
      const box = await create({ proxySocket });
      const inFlight = run(box, "setsid sleep 602 & env -i setsid sh -c 'trap \"\" TERM HUP; sleep 603' & sleep 604");
      for (let look = 0; look < 100 && (await strangers(box)).length < 3; look += 1) await new Promise((resolve) => setTimeout(resolve, 50));
      await box.killAll();
      expect(await inFlight).toMatchObject({ exitCode: null, timedOut: false });
      expect(await strangers(box)).toEqual([]);
      expect(await askModel(box, "/after")).toBe("GET /after 0;end");
      await box.killAll();
    });
  });

  describe(`${kind}: a program that is talked to`, () => {
    it("answers as it is told, beside commands, and ends with killAll", async () => {
      const { holdsPrograms } = options.provider();
      const sandbox = await create();
      expect(sandbox.start !== undefined).toBe(holdsPrograms);
      if (sandbox.start === undefined) return;
      const program = await sandbox.start({ command: ["sh", "-c", 'echo "$GREETING $(pwd)"; cat; echo over >&2'], env: { GREETING: "hello" } });
      let said = "";
      program.output.on("data", (chunk: Buffer) => {
        said += text(chunk);
      });
      program.input.write("one\n");
      await expect.poll(() => said).toBe("hello /app\none\n");
      expect(text((await run(sandbox, "echo beside")).stdout)).toBe("beside\n");
      program.input.write(`${"x".repeat(300_000)}\n`);
      await expect.poll(() => said.length).toBe("hello /app\none\n".length + 300_001);
      await sandbox.killAll();
      await program.ended;
      expect(await strangers(sandbox)).toEqual([]);
      const second = await sandbox.start({ command: ["sh", "-c", "cat >/dev/null; echo over"] });
      second.output.on("data", (chunk: Buffer) => {
        said = text(chunk);
      });
      second.input.end();
      await second.ended;
      await expect.poll(() => said).toBe("over\n");
    });
  });

  describe(`${kind}: files`, () => {
    it("go in as they are, and come out as plain files", async () => {
      const source = join(folder, "in");
      await mkdir(join(source, "sub", "empty"), { recursive: true });
      await writeFile(join(source, "sub", "tool.sh"), "#!/bin/sh\necho ran\n");
      await chmod(join(source, "sub", "tool.sh"), 0o755);
      await writeFile(join(source, "名 前.txt"), "täxt");
      await symlink("/etc/passwd", join(source, "sub", "link"));
      const box = await create();
      await box.upload(source, "/app/deep/er");
      await box.upload(join(source, "名 前.txt"), "/app/renamed.txt");
      const seen = await run(
        box,
        "sub=deep/er/sub; $sub/tool.sh; cat renamed.txt; ls -1 deep/er; test -d $sub/empty && readlink $sub/link; touch deep/er/mine && echo writable",
      );
      expect(text(seen.stdout)).toBe("ran\ntäxtsub\n名 前.txt\n/etc/passwd\nwritable\n");

      const out = join(folder, "out");
      expect(await box.download("/app/deep/er", out)).toBe(true);
      expect(await readFile(join(out, "名 前.txt"), "utf8")).toBe("täxt");
      expect((await stat(join(out, "sub", "tool.sh"))).mode & 0o111).not.toBe(0);
      expect(await box.download("/app/renamed.txt", join(folder, "one.txt"))).toBe(true);
      expect(await readFile(join(folder, "one.txt"), "utf8")).toBe("täxt");
      expect(await box.download("/app/nothing", join(folder, "nothing"))).toBe(false);
      await expect(stat(join(folder, "nothing"))).rejects.toThrow();
    });

    it("are written with their mode, parents and all", async () => {
      await shared.writeFile("/app/a/b/c.bin", Uint8Array.from([0, 255, 10]), 0o640);
      await shared.writeFile("/app/a/b/c.bin", Uint8Array.from([1, 255, 10]), 0o640);
      const seen = await run(shared, "stat -c '%a %s' a/b/c.bin; od -An -tx1 a/b/c.bin");
      expect(text(seen.stdout).replace(/\s+/g, " ").trim()).toBe("640 3 01 ff 0a");
    });

    it("never lead out of the box: links are left behind, wherever they point", async () => {
      const secret = join(folder, "secret.txt");
      await writeFile(secret, "the user's own");
      const box = await create();
      const made = await run(
        box,
        `mkdir -p out/sub; echo kept > out/kept; ln out/kept out/twin; ln -s ${secret} out/file; ln -s / out/root; ln -s ../../../.. out/sub/up; ln out/file out/second; mkfifo out/pipe; ln -s ${folder} planted; chmod 000 out/kept`,
      );
      expect(made.exitCode).toBe(0);
      await box.upload(secret, "/app/planted/x.txt").catch(() => undefined);
      await expect(stat(join(folder, "x.txt"))).rejects.toThrow();
      const out = join(folder, "hostile");
      expect(await box.download("/app/out", out)).toBe(true);
      for (const name of ["file", "root", "second", "pipe", "sub/up"]) await expect(stat(join(out, name))).rejects.toThrow();
      expect(await box.download("/app/out/file", join(folder, "through-link"))).toBe(false);
      await rm(out, { recursive: true });
    });

    it("show the harness, read-only, from the first command on", async () => {
      const harness = join(folder, "harness");
      await mkdir(harness, { recursive: true });
      await writeFile(join(harness, "agent.mjs"), "console.log('agent', process.version)");
      const box = await create();
      await box.provide({ hostFolder: harness, version: "1" });
      const seen = await run(box, `node ${insidePaths.harness}/agent.mjs; ${insidePaths.node} --version; touch ${insidePaths.harness}/x`);
      expect(text(seen.stdout)).toBe(`agent ${process.version}\n${process.version}\n`);
      expect(seen.exitCode).not.toBe(0);
      await expect(box.provide({ hostFolder: harness, version: "1" })).rejects.toMatchObject({ code: "sandbox" });
    });

    it("lie in the working folder that the task names", async () => {
      const box = await create({ workdir: "/workspace/project" });
      expect(text((await run(box, "touch here && pwd && ls -d /logs/agent /logs/verifier /logs/artifacts")).stdout)).toBe(
        "/workspace/project\n/logs/agent\n/logs/artifacts\n/logs/verifier\n",
      );
    });
  });

  describe(`${kind}: the network`, () => {
    it("is the model alone", async () => {
      expect(shared.modelBaseHost).toBe("http://127.0.0.1:8790");
      expect(await askModel(shared, "/v1/models")).toBe("GET /v1/models 0;end");
      const posted = `fetch(process.argv[1] + "/big", { method: "POST", body: "x".repeat(5_000_000) }).then((r) => r.text()).then(console.log)`;
      const result = await shared.exec({ command: ["node", "-e", posted, shared.modelBaseHost ?? ""], timeoutMs: 20_000, outputLimitBytes: 1000 });
      expect(text(result.stdout).trim()).toBe("POST /big 5000000;end");
      const asked = await Promise.all([...Array(8).keys()].map((number) => askModel(shared, `/${number}`)));
      expect(asked).toEqual([...Array(8).keys()].map((number) => `GET /${number} 0;end`));
    });

    it("lets each side end its half first", async () => {
      const echo = createSocketServer({ allowHalfOpen: true }, (socket) => {
        const chunks: Buffer[] = [];
        socket.on("data", (chunk: Buffer) => chunks.push(chunk));
        socket.on("end", () => socket.end(Buffer.concat(chunks).toString().toUpperCase()));
      });
      const path = join(folder, "echo.sock");
      await new Promise<void>((resolve) => echo.listen(path, resolve));
      const box = await create({ proxySocket: path });
      const client = `const s = require("net").connect({ port: 8790, host: "127.0.0.1", allowHalfOpen: true }); s.end("words"); s.pipe(process.stdout);`;
      const result = await box.exec({ command: ["node", "-e", client], timeoutMs: 10_000, outputLimitBytes: 1000 });
      expect(text(result.stdout)).toBe("WORDS");
      echo.close();
    });

    it("has no other way out, and says so at once", async () => {
      const attempts = `
        const net = require("net"); const dns = require("dns");
        const connect = (host) => new Promise((done) => net.connect({ host, port: 80, timeout: 5000 }, () => done("open"))
          .on("error", (e) => done(e.code)).on("timeout", () => done("hang")));
        (async () => {
          for (const host of ["1.1.1.1", "169.254.169.254", "10.0.0.1", "172.17.0.1", "2606:4700:4700::1111"]) console.log(await connect(host));
          console.log(await dns.promises.lookup("example.com").then(() => "found", (e) => e.code));
          console.log(Object.keys(require("os").networkInterfaces()).join());
        })();`;
      const begin = Date.now();
      const result = await shared.exec({ command: ["node", "-e", attempts], timeoutMs: 30_000, outputLimitBytes: 1000 });
      const said = text(result.stdout).trim().split("\n");
      expect(said.pop()).toBe("lo");
      expect(said).toHaveLength(6);
      for (const word of said) expect(["ENETUNREACH", "EAI_AGAIN", "ENOTFOUND", "EHOSTUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL"]).toContain(word);
      expect(Date.now() - begin).toBeLessThan(5000);
    });

    it("takes no socket path that the system would cut", async () => {
      await expect(create({ proxySocket: `/tmp/${"x".repeat(100)}` })).rejects.toMatchObject({ message: expect.stringContaining("105 bytes") });
    });
  });

  describe(`${kind}: the box`, () => {
    it("tells what it isolates and what it is", () => {
      for (const words of Object.values(shared.isolation)) expect(words.length).toBeGreaterThan(10);
      for (const name of ["image", "distribution", "kernel", "architecture", "locale", "node", "packages"]) {
        expect(shared.fingerprint[name], name).toMatch(/./);
      }
    });

    it("holds its memory limit and says when it was reached", async () => {
      const box = await create({ limits: { memoryMb: 160 } });
      const eat = "const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1))";
      const result = await box.exec({ command: ["node", "-e", eat], timeoutMs: 60_000, outputLimitBytes: 10_000 });
      expect(result.timedOut).toBe(false);
      expect(result.exitCode).not.toBe(0);
      if (box.isolation.limits.startsWith("cgroup")) expect(result.outOfMemory).toBe(true);
      expect(await run(box, "echo alive")).toMatchObject({ exitCode: 0, outOfMemory: false });
    });

    it("cannot gain rights", async () => {
      const seen = await run(
        shared,
        "grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status; echo x > /proc/sys/kernel/core_pattern; echo x > /usr/bin/env; mount -t tmpfs none /mnt; true",
      );
      expect(text(seen.stdout)).toMatch(/CapPrm:\t0{16}\nCapEff:\t0{16}\nNoNewPrivs:\t1/);
      expect(text(seen.stderr)).toMatch(/core_pattern/);
    });

    it("is gone after destroy, which may come twice and too early", async () => {
      const box = await create();
      await box.destroy();
      const second = await create();
      await run(second, "sleep 600 >/dev/null 2>&1 &");
      await Promise.all([second.destroy(), second.destroy()]);
      await second.destroy();
      const error = await run(second, "true").catch((failure: WorkbenchError) => failure);
      expect(sandboxCauseOf(error)).toBe("sandbox-lost");
    });

    it("is lost with a clear cause when its first process ends", async () => {
      const lost = request();
      const box = await options.provider().create(lost, () => undefined);
      boxes.push(box);
      await run(box, "true");
      const inFlight = run(box, "sleep 600").catch((failure: unknown) => failure);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await options.lose(lost.rolloutId);
      expect(sandboxCauseOf(await inFlight)).toBe("sandbox-lost");
      expect(sandboxCauseOf(await run(box, "true").catch((failure: unknown) => failure))).toBe("sandbox-lost");
      await box.destroy();
    });

    it("is reaped by its owner, and only those that nobody keeps", async () => {
      const mine = request({ ownerId: `${ownerId}-reaper` });
      const kept = request({ ownerId: `${ownerId}-reaper` });
      const others = request({ ownerId: `${ownerId}-other` });
      for (const each of [mine, kept, others]) await run(await create(each), "true");
      expect(await options.provider().reap(`${ownerId}-reaper`, new Set([kept.rolloutId]))).toEqual([mine.rolloutId]);
      expect(await options.provider().reap(`${ownerId}-reaper`, new Set())).toEqual([kept.rolloutId]);
      expect(await options.provider().reap(`${ownerId}-reaper`, new Set())).toEqual([]);
      expect(await options.provider().reap(`${ownerId}-other`, new Set())).toEqual([others.rolloutId]);
    });
  });

  async function askModel(box: Sandbox, path: string): Promise<string> {
    const ask = "fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))";
    const result = await box.exec({ command: ["node", "-e", ask, `${box.modelBaseHost}${path}`], timeoutMs: 20_000, outputLimitBytes: 1000 });
    return text(result.stdout);
  }
}
