/** What `main` may say in a compose file: it is the agent's box, whose first process is ours and whose rights are the sandbox's. */
import type { ComposeService } from "./project.ts";

/** The command that Harbor gives every box, whatever its image says. */
export const keepAlive: readonly string[] = ["sh", "-c", "sleep infinity"];

const idles: readonly RegExp[] = [
  /^sleep (?:infinity|inf|\d+[smhd]?)$/,
  /^tail -f \/dev\/null$/,
  /^(?:while|until) (?:true|:|false); ?do sleep \d+[smhd]?; ?done$/,
  /^(?:exec )?(?:\/(?:usr\/)?bin\/)?(?:sh|bash|cat)$/,
];

/** Whether a command does nothing but keep its container alive. */
export function onlyIdles(words: readonly string[]): boolean {
  const [shell = "", option = "", script = ""] = words;
  if (words.length === 3 && /^(?:\/(?:usr\/)?bin\/)?(?:sh|bash)$/.test(shell) && /^-l?c$/.test(option))
    return idles.some((idle) => idle.test(script.trim()));
  return words.length === 0 || idles.some((idle) => idle.test(words.join(" ")));
}

/** Keys of `main` that would not be as they say, with the reason. */
export function mainRefusals(main: ComposeService): readonly { readonly key: string; readonly message: string }[] {
  const refusals: { key: string; message: string }[] = [];
  if (main.sharesNetworkOf !== null) {
    refusals.push({ key: "network_mode", message: "main has a network of its own; let the other service say network_mode: service:main" });
  }
  if (main.readOnly) refusals.push({ key: "read_only", message: "the agent's box cannot be read-only" });
  if (main.capabilities.add.length > 0) refusals.push({ key: "cap_add", message: "the agent's box is given no capabilities" });
  return refusals;
}
