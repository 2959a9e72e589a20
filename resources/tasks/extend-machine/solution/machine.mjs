/**
 * A small state machine, described by plain data:
 * `{ initial, context: { key: number }, states: { name: { on: { event: transition or transitions } }, "*": … } }`.
 * A transition is the name of a state or `{ target, when: { key, atLeast, below }, add: { key: number } }`.
 */
export function createMachine(definition) {
  const states = definition.states;
  const isState = (name) => name !== "*" && Object.hasOwn(states, name);
  const all = Object.values(states).flatMap((one) => Object.values(one.on ?? {}).flatMap(listOf));
  for (const name of [definition.initial, ...all.filter((one) => one.target !== undefined).map((one) => one.target)]) {
    if (!isState(name)) throw new RangeError(`no state: ${name}`);
  }
  const steps = [{ state: definition.initial, context: new Map(Object.entries(definition.context ?? {})) }];
  const now = () => steps.at(-1);

  function fitting(event) {
    for (const name of [now().state, "*"]) {
      const on = Object.hasOwn(states, name) ? (states[name].on ?? {}) : {};
      const found = Object.hasOwn(on, event) ? listOf(on[event]).find((one) => holds(one.when, now().context)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return {
    get state() {
      return now().state;
    },
    get context() {
      return Object.fromEntries(now().context);
    },
    get history() {
      return steps.map((step) => step.state);
    },
    can: (event) => fitting(event) !== undefined,
    send(event) {
      const taken = fitting(event);
      if (taken !== undefined) {
        const context = new Map(now().context);
        for (const [key, number] of Object.entries(taken.add ?? {})) context.set(key, (context.get(key) ?? 0) + number);
        steps.push({ state: taken.target ?? now().state, context });
      }
      return now().state;
    },
    undo() {
      if (steps.length === 1) throw new RangeError("nothing to take back");
      steps.pop();
      return now().state;
    },
  };
}

function listOf(transitions) {
  return [transitions].flat().map((one) => (typeof one === "string" ? { target: one } : one));
}

function holds(when, context) {
  if (when === undefined) return true;
  const number = context.get(when.key) ?? 0;
  return number >= (when.atLeast ?? -Infinity) && number < (when.below ?? Infinity);
}
