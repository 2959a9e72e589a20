// What a machine has to do, over again from its first state for every question: slow, and nothing like a solution.
const own = (table, key) => (table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined);
const alternatives = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

function fits(transition, numbers) {
  if (typeof transition === "string" || transition.when === undefined) return true;
  const { key, atLeast, below } = transition.when;
  const number = own(numbers, key) ?? 0;
  return (atLeast === undefined || number >= atLeast) && (below === undefined || number < below);
}

function chosen(definition, { state, numbers }, event) {
  const candidates = [state, "*"].flatMap((name) => alternatives(own(own(definition.states, name)?.on, event)));
  return candidates.find((transition) => fits(transition, numbers));
}

function after(situation, transition) {
  if (typeof transition === "string") return { state: transition, numbers: situation.numbers };
  const numbers = { ...situation.numbers };
  for (const [key, more] of Object.entries(transition.add ?? {})) numbers[key] = (own(numbers, key) ?? 0) + more;
  return { state: transition.target ?? situation.state, numbers };
}

function isWrong({ initial, states }) {
  const targets = Object.values(states).flatMap(({ on }) => Object.values(on ?? {}).flatMap(alternatives)).map((one) => (typeof one === "string" ? one : one.target));
  return [initial, ...targets.filter((target) => target !== undefined)].some((name) => name === "*" || !Object.hasOwn(states, name));
}

export function expected({ definition, actions }) {
  if (isWrong(definition)) return { range: true };
  const sorted = (table) => Object.entries(table).sort(([left], [right]) => (left < right ? -1 : 1));
  let situations = [{ state: definition.initial, numbers: { ...definition.context } }];
  const told = actions.map(([verb, event]) => {
    const now = situations.at(-1);
    const transition = verb === "undo" ? undefined : chosen(definition, now, event);
    let answer = transition !== undefined;
    if (verb === "send" && transition !== undefined) situations = [...situations, after(now, transition)];
    if (verb === "undo" && situations.length > 1) situations = situations.slice(0, -1);
    else if (verb === "undo") answer = { range: true };
    const then = situations.at(-1);
    if (verb === "send" || (verb === "undo" && answer === false)) answer = then.state;
    return [answer, then.state, sorted(then.numbers), situations.map(({ state }) => state)];
  });
  return { told, untouched: true };
}
