import assert from "node:assert/strict";
import { test } from "node:test";
import { createMachine } from "./machine.mjs";

const door = {
  initial: "closed",
  context: { opened: 0 },
  states: {
    closed: { on: { open: { target: "open", add: { opened: 1 } }, lock: { target: "locked", when: { key: "opened", atLeast: 1 } } } },
    open: { on: { close: "closed" } },
    locked: { on: { unlock: "closed" } },
    "*": { on: { remove: "open" } },
  },
};

test("takes plain transitions", () => {
  const machine = createMachine(door);
  assert.equal(machine.send("open"), "open");
  assert.equal(machine.send("close"), "closed");
  assert.equal(machine.send("knock"), "closed");
});
test("counts and guards", () => {
  const machine = createMachine(door);
  assert.equal(machine.send("lock"), "closed");
  machine.send("open");
  machine.send("close");
  assert.deepEqual(machine.context, { opened: 1 });
  assert.equal(machine.can("lock"), true);
  assert.equal(machine.send("lock"), "locked");
  assert.equal(machine.send("remove"), "open");
});
test("goes back", () => {
  const machine = createMachine(door);
  machine.send("open");
  assert.deepEqual(machine.history, ["closed", "open"]);
  assert.equal(machine.undo(), "closed");
  assert.deepEqual(machine.context, { opened: 0 });
  assert.throws(() => machine.undo(), RangeError);
});
test("refuses a target that is no state", () => {
  assert.throws(() => createMachine({ initial: "a", states: { a: { on: { go: "b" } } } }), RangeError);
});
