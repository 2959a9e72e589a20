/**
 * Who the box runs as. An ordinary user runs it as himself. Root must not: to the kernel a process mapped to root stays the owner of
 * /proc/sys and of every file of root, capabilities or not. So root lends each box a user number of its own, and does the mounts that
 * this number could not reach by itself in a private mount namespace first.
 */
import { randomInt } from "node:crypto";
import type { SystemTools } from "./system-tools.ts";

export interface BoxIdentity {
  readonly uid: number;
  readonly gid: number;
  /** Not the service's own. */
  readonly lent: boolean;
}

/** Numbers that no account database hands out; still below 2³¹. */
const lentRange = { first: 2_000_000_000, last: 2_100_000_000 };

export function chooseIdentity(): BoxIdentity {
  const uid = process.geteuid?.() ?? 0;
  const gid = process.getegid?.() ?? 0;
  if (uid !== 0) return { uid, gid, lent: false };
  const number = randomInt(lentRange.first, lentRange.last);
  return { uid: number, gid: number, lent: true };
}

/** Command prefix that turns into this identity; nothing behind it gains privileges where `closed`. */
export function becomeUser(tools: SystemTools, { uid, gid, lent }: BoxIdentity, closed: boolean): readonly string[] {
  const change = [...(lent ? [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"] : []), ...(closed ? ["--no-new-privs"] : [])];
  return change.length === 0 ? [] : [tools.setpriv, ...change, "--"];
}
