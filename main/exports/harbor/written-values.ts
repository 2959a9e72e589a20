/** Values as Harbor writes them. */
import { createHash } from "node:crypto";
import { readableJson } from "../json-text.ts";

export function jsonFile(value: unknown): string {
  return readableJson(value, 4);
}

/** Times of trials carry their zone. */
export function moment(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Times of jobs carry none. */
export function localMoment(milliseconds: number): string {
  return moment(milliseconds).replace(/Z$/, "");
}

/** One UUID for one of our ids, the same in every export: version 8, made of its SHA-256. */
export function uuidOf(id: string): string {
  const hex = createHash("sha256").update(`openforge ${id}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `9${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

/** The task's digest; for a task known by name only, one made of that name: the format wants one. */
export function digestOf(taskDigest: string): string {
  return /^sha256:[0-9a-f]{64}$/.test(taskDigest) ? taskDigest : `sha256:${createHash("sha256").update(taskDigest).digest("hex")}`;
}
