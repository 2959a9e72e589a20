import { expect, test } from "vitest";
import { graderEnvironment } from "./grader-environment.ts";

const places = { home: "/tmp/grader-1", path: ["/usr/bin", "/bin"], workdir: "/app", inAgentsFolder: false };

test("what loads code is unset, unless the verifier's own table sets it", () => {
  const task = { PLAIN: "x", LD_PRELOAD: "/app/a.so", PATH: "/app/bin", PYTHONPATH: "/app", NODE_OPTIONS: "-r /app/x" };
  const { prefix, env } = graderEnvironment(places, task, { PYTHONPATH: "/tests/lib", HOME: "/root" });
  expect(env).toMatchObject({
    PLAIN: "x",
    PATH: "/usr/bin:/bin:/opt/openforge/bin",
    PYTHONPATH: "/tests/lib",
    HOME: "/root",
    OPENFORGE_WORKDIR: "/app",
  });
  expect(env).not.toHaveProperty("LD_PRELOAD");
  expect(env).not.toHaveProperty("NODE_OPTIONS");
  expect(prefix.slice(0, 3)).toEqual(["/usr/bin/env", "-u", "LD_PRELOAD"]);
  expect(prefix).toContain("NODE_OPTIONS");
  expect(prefix).not.toContain("PYTHONPATH");
});

test("a box without a search path gets the usual one", () => {
  expect(graderEnvironment({ ...places, path: [] }, {}, {}).env.PATH).toBe(
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/openforge/bin",
  );
  expect(graderEnvironment({ ...places, path: ["/opt/openforge/bin", "/bin"] }, {}, {}).env.PATH).toBe("/opt/openforge/bin:/bin");
});

test("in the agent's folder Python takes modules from the tests only", () => {
  const { prefix, env } = graderEnvironment({ ...places, inAgentsFolder: true }, { PYTHONPATH: "/app" }, {});
  expect(env).toMatchObject({ PYTHONSAFEPATH: "1", PYTHONPATH: "/tests" });
  expect(prefix).not.toContain("PYTHONPATH");
  expect(graderEnvironment(places, {}, {}).env).not.toHaveProperty("PYTHONSAFEPATH");
});

test("git runs no program that a repository names", () => {
  const { env } = graderEnvironment(places, {}, {});
  const settings = Array.from({ length: Number(env.GIT_CONFIG_COUNT) }, (_, index) => [
    env[`GIT_CONFIG_KEY_${index}`],
    env[`GIT_CONFIG_VALUE_${index}`],
  ]);
  expect(Object.fromEntries(settings)).toMatchObject({
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "safe.directory": "*",
  });
});
