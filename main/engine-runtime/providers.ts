/** Which execution provider this machine gets, and why. */
import { availableParallelism, cpus } from "node:os";

export interface ProviderChoice {
  readonly name: string;
  /** One sentence for people. */
  readonly reason: string;
}

/** What the native library says it has. */
export interface ProviderBackend {
  readonly name: string;
  readonly bundled: boolean;
}

/**
 * The provider to run on. The CPU is the one that this build is exact on; what else the library carries is named, so that nobody
 * wonders why a card stays idle.
 */
export function chooseProvider(backends: readonly ProviderBackend[]): ProviderChoice {
  const processor = `${availableParallelism()} threads of ${cpus()[0]?.model.trim() ?? "this processor"}`;
  const others = backends.filter(({ name, bundled }) => bundled && name !== "cpu").map(({ name }) => name);
  const unused =
    others.length === 0 ? "the installed ONNX Runtime has no other provider" : `${others.join(", ")} is installed and not used by this version`;
  return { name: "cpu", reason: `${processor}; ${unused}` };
}
