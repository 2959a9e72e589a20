/**
 * A small state machine, described by plain data:
 * `{ initial: "idle", states: { idle: { on: { start: "running" } }, running: { on: { stop: "idle" } } } }`.
 */
export function createMachine(definition) {
  let state = definition.initial;
  return {
    get state() {
      return state;
    },
    /** Takes the transition of the event, if there is one; gives the state that the machine is in then. */
    send(event) {
      state = definition.states[state].on?.[event] ?? state;
      return state;
    },
  };
}
