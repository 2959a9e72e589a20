import { expect, it } from "vitest";
import { isBelowWritableFolder, isInWritableFolder, workdirRefusal } from "./bubblewrap.ts";
import { startRefusal } from "./system-tools.ts";

it.each([
  ["setpriv: failed to execute bwrap: No such file or directory", "bwrap"],
  ["sh: 1: exec: bwrap: not found", "bwrap"],
  ["unshare: failed to execute setpriv: No such file or directory", "setpriv"],
])("names the program that is missing: %s", (complaint, program) => {
  const error = startRefusal(complaint);
  expect(error.message).toContain(`needs the program ${program}`);
  expect(error.remedy).toContain("apt install bubblewrap");
  expect(error.exitCode).toBe(3);
});

it.each([
  "bwrap: setting up uid map: Permission denied",
  "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
  "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
  "unshare: unshare failed: Operation not permitted",
])("passes on why namespaces cannot be had, with the remedy: %s", (complaint) => {
  const error = startRefusal(complaint);
  expect(error.message).toContain(complaint);
  expect(error.remedy).toMatch(/AppArmor.*docker/);
  expect(error.exitCode).toBe(3);
});

it("knows where a working folder can be", () => {
  for (const path of ["/app", "/workspace/a", "/root", "/data", "/tmp/x"]) expect(workdirRefusal(path)).toBeNull();
  for (const path of ["/", "app", "/usr/src/app", "/etc", "/opt/harness/x", "/proc"]) expect(workdirRefusal(path)).not.toBeNull();
  expect([isInWritableFolder("/app"), isBelowWritableFolder("/app"), isBelowWritableFolder("/app/a"), isInWritableFolder("/application")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
