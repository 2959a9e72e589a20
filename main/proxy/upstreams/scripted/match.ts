/** Whether a rule fits a request, and the texts that its patterns caught. Pure. */
import { offeredName } from "./offered-name.ts";
import type { ScriptConditions, ScriptCount, ScriptMatcher, ScriptRule } from "./schema.ts";
import type { Situation } from "./situation.ts";

export type Captures = ReadonlyMap<string, string>;

/** null = the rule does not fit. */
export function matchRule(rule: ScriptRule, situation: Situation): Captures | null {
  const captures = new Map<string, string>();
  const { not, ...conditions } = rule.when;
  if (!fits(conditions, situation, captures)) return null;
  if (not !== undefined && fits(not, situation, new Map())) return null;
  for (const [name, { regex, in: place }] of Object.entries(rule.capture)) {
    const found = situation.texts[place].flatMap((text) => [...text.matchAll(new RegExp(regex, "gm"))]).at(-1);
    if (found !== undefined) captures.set(name, found[1] ?? found[0]);
  }
  return captures;
}

function fits(when: ScriptConditions, situation: Situation, captures: Map<string, string>): boolean {
  const { texts, tools } = situation;
  const held = (matcher: ScriptMatcher | undefined, among: readonly string[]): boolean =>
    matcher === undefined || alternatives(matcher).some((one) => among.some((text) => matchText(one, text, captures)));
  return (
    inCount(when.call, situation.call) &&
    inCount(when.turns, situation.turns) &&
    inCount(when.toolResults, situation.toolResults) &&
    (when.lastRole === undefined || when.lastRole === situation.lastRole) &&
    (when.harness === undefined || when.harness.includes(situation.harness)) &&
    (when.dialect === undefined || when.dialect.includes(situation.dialect)) &&
    (when.tools === undefined || when.tools.every((name) => offeredName(name, tools) !== null)) &&
    (when.withoutTools === undefined || !when.withoutTools.some((name) => (name === "*" ? tools.size > 0 : offeredName(name, tools) !== null))) &&
    held(when.last, texts.last) &&
    held(when.user, texts.user) &&
    held(when.system, texts.system) &&
    held(when.toolResult, texts.toolResult) &&
    held(when.anywhere, texts.anywhere) &&
    held(when.task, [situation.task, ...texts.user])
  );
}

function inCount(range: ScriptCount | undefined, value: number): boolean {
  if (range === undefined) return true;
  return typeof range === "number" ? value === range : value >= range.from && value <= (range.to ?? Number.POSITIVE_INFINITY);
}

type OneMatcher = Exclude<ScriptMatcher, readonly unknown[]>;

function alternatives(matcher: ScriptMatcher): readonly OneMatcher[] {
  return Array.isArray(matcher) ? matcher : [matcher];
}

function matchText(matcher: OneMatcher, text: string, captures: Map<string, string>): boolean {
  if (typeof matcher === "string") return text.includes(matcher);
  const found = new RegExp(matcher.regex, matcher.flags).exec(text);
  if (found === null) return false;
  found.forEach((group, index) => {
    if (group !== undefined) captures.set(String(index), group);
  });
  for (const [name, group] of Object.entries(found.groups ?? {})) if (group !== undefined) captures.set(name, group);
  return true;
}

/** `${name}` becomes what was caught under that name; any other `${…}` stays, so that shell text needs no escapes. */
export function fillText(text: string, captures: Captures): string {
  return text.replace(/\$\{([A-Za-z0-9_]+)\}/g, (whole, name: string) => captures.get(name) ?? whole);
}

export function fillValue(value: unknown, captures: Captures): unknown {
  if (typeof value === "string") return fillText(value, captures);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, captures));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, captures)]));
}
