/**
 * The strict reader of reward files: finite numbers by name, or the reason why there are none. `reward.json` is read first; when
 * `reward.txt` stands beside it, both must say the same. Nothing is guessed and nothing missing becomes 0.
 */
import type { OutcomeCause } from "../../engine/outcome/index.ts";
import type { PlainFile } from "../sandboxes/index.ts";

type Rewards = Readonly<Record<string, number>>;
export type RewardReading =
  | { readonly ok: true; readonly reward: number; readonly rewards: Rewards }
  | {
      readonly ok: false;
      readonly cause: Extract<OutcomeCause, "reward-missing" | "reward-malformed">;
      readonly detail: string;
      readonly rewards: Rewards | null;
      /** There are rewards, and only none that is the scalar. */
      readonly noScalar?: true;
    };

/** A scalar beyond it, either way, is no reward but an accident or an attack: it would outweigh every other rollout. */
const rewardBound = 1e6;

type FileReading = { readonly rewards: Rewards } | { readonly cause: "reward-missing" | "reward-malformed"; readonly detail: string };

/** `rewardKey`: the task's own choice where a table has several names and none is `reward`. */
export function readRewards(json: PlainFile, text: PlainFile, rewardKey: string | null): RewardReading {
  if (json.state === "missing" && text.state === "missing") {
    return { ok: false, cause: "reward-missing", detail: "The verifier wrote neither reward.json nor reward.txt to /logs/verifier.", rewards: null };
  }
  if (json.state === "missing") return scalar(readFile(text, "reward.txt", readNumber), rewardKey);
  const fromJson = scalar(readFile(json, "reward.json", readTable), rewardKey);
  if (text.state === "missing") return fromJson;
  const fromText = scalar(readFile(text, "reward.txt", readNumber), rewardKey);
  if (fromJson.ok && fromText.ok && fromJson.reward === fromText.reward) return fromJson;
  const say = (reading: RewardReading) => (reading.ok ? String(reading.reward) : "no reward");
  return {
    ok: false,
    cause: "reward-malformed",
    rewards: null,
    detail: `reward.json says ${say(fromJson)} and reward.txt says ${say(fromText)}; the verifier must write one of them, or the same in both.`,
  };
}

function readFile(file: PlainFile, name: string, parse: (text: string) => Rewards | string): FileReading {
  if (file.state === "missing") return { cause: "reward-missing", detail: `The verifier wrote no ${name}.` };
  if (file.state === "unreadable") return { cause: "reward-malformed", detail: `${name} is ${file.reason}.` };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file.bytes);
  } catch {
    return { cause: "reward-malformed", detail: `${name} is not UTF-8 text.` };
  }
  // A blank to `trim`, but not to other readers.
  if (text.includes("\uFEFF")) return { cause: "reward-malformed", detail: `${name} has a byte order mark.` };
  if (text.trim() === "") return { cause: "reward-missing", detail: `${name} is empty.` };
  const result = parse(text);
  return typeof result === "string" ? { cause: "reward-malformed", detail: `${name} ${result}.` } : { rewards: result };
}

/** One decimal number. */
function readNumber(text: string): Rewards | string {
  const trimmed = text.trim();
  const wanted = "must hold one finite number";
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return `${wanted}, not ${JSON.stringify(trimmed.slice(0, 60))}`;
  return Number.isFinite(Number(trimmed)) ? { reward: Number(trimmed) } : `${wanted}, not ${trimmed.slice(0, 60)}`;
}

/** A flat table of finite numbers, each name once. */
function readTable(text: string): Rewards | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "is not valid JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be a table of numbers by name";
  const rewards: [string, number][] = [];
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry !== "number") return `must hold numbers only, but ${JSON.stringify(name)} is ${JSON.stringify(entry).slice(0, 60)}`;
    if (!Number.isFinite(entry)) return `must hold finite numbers only, but ${JSON.stringify(name)} is not finite`;
    rewards.push([name, entry]);
  }
  if (rewards.length === 0) return "names no reward";
  // All values are numbers, so that every string of the text is a name.
  const names = text.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  return names.length === rewards.length ? Object.fromEntries(rewards) : "has a name twice";
}

function scalar(reading: FileReading, rewardKey: string | null): RewardReading {
  return "rewards" in reading ? scalarReward(reading.rewards, rewardKey) : { ok: false, ...reading, rewards: null };
}

/** The scalar: `reward`, else the only name, else the task's choice. */
export function scalarReward(rewards: Rewards, rewardKey: string | null): RewardReading {
  const names = Object.keys(rewards);
  const name = Object.hasOwn(rewards, "reward") ? "reward" : names.length === 1 ? names[0] : rewardKey;
  const reward = name === undefined || name === null || !Object.hasOwn(rewards, name) ? undefined : rewards[name];
  if (reward !== undefined && Math.abs(reward) > rewardBound) {
    return { ok: false, cause: "reward-malformed", rewards, detail: `A reward of ${reward} is beyond ±${rewardBound}.` };
  }
  if (reward !== undefined) return { ok: true, reward, rewards };
  const lacking = rewardKey === null ? "none is called reward, and the task names no reward_key" : `none is called reward or ${rewardKey}`;
  return { ok: false, cause: "reward-malformed", rewards, noScalar: true, detail: `reward.json has the rewards ${names.join(", ")}; ${lacking}.` };
}
