/** What a harness needs, can and was last seen to do, as sentences. Pure. */
import type { HarnessView } from "../service/views.ts";
import { count } from "./numbers.ts";

export const prefixShort: Record<HarnessView["prefix"], string> = { exact: "yes", "after-normalising": "after normalising", no: "no" };

export const prefixWords: Record<HarnessView["prefix"], string> = {
  exact: "yes: each request begins with the one before",
  "after-normalising": "after normalising: fields that vary are declared in its manifest",
  no: "no: requests do not grow from each other",
};

/** Where an installation comes from, by the manifest's word for it. */
const sources: Readonly<Record<string, string>> = {
  bundled: "ships with the workbench and is copied",
  npm: "is fetched from npm",
  pip: "is fetched from PyPI",
  cargo: "is built from crates.io",
};
export const sourceWords = (install: string): string => sources[install] ?? `comes by ${install}`;

const runtimes: Readonly<Record<string, string>> = {
  node: "Node, brought along",
  native: "nothing: a static binary",
  python: "Python of the sandbox",
};

export function runtimeWords({ runtime, runtimeVersion }: HarnessView["needs"]): string {
  const name = runtimes[runtime] ?? runtime;
  return runtimeVersion === null ? name : `${name}, ${runtimeVersion} or newer`;
}

/** What must be there for it, one fact each; what it does not need is left out. */
export function needRows({ needs, install }: HarnessView): readonly (readonly [string, string])[] {
  const { toInstall, programs, display, diskMb, memoryMb } = needs;
  return [
    ["Runtime", runtimeWords(needs)],
    ...(toInstall.length === 0 || install === "bundled" ? [] : [["To install", toInstall.join(", ")] as const]),
    ...(programs.length === 0 ? [] : [["In the sandbox", programs.join(", ")] as const]),
    ...(display ? [["Screen", "real or virtual"] as const] : []),
    ...(diskMb === null ? [] : [["Disk", `${count(diskMb)} MB`] as const]),
    ...(memoryMb === null ? [] : [["Memory", `${count(memoryMb)} MB`] as const]),
  ];
}

export const mcpWords = ({ mcp }: HarnessView): string => (mcp.length === 0 ? "none" : mcp.join(", "));
