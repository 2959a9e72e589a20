// Runs in a process of its own that can read the module and nothing else: it answers what the machine answers.
const { createMachine } = await import("file:///app/machine.mjs");
const cases = JSON.parse(process.argv[2]);
const sorted = (table) => Object.entries(table).sort(([left], [right]) => (left < right ? -1 : 1));

function attempt(action) {
  try {
    return action();
  } catch (error) {
    return { range: error instanceof RangeError };
  }
}

const answers = cases.map(({ definition, actions }) => {
  const given = JSON.stringify(definition);
  const made = attempt(() => ({ machine: createMachine(definition) }));
  if (!("machine" in made)) return made;
  const { machine } = made;
  const told = actions.map(([verb, event]) => {
    const answer = attempt(() => (verb === "undo" ? machine.undo() : machine[verb](event)));
    // Whoever changes what he was given must not change the machine.
    machine.context.visits = 1000;
    machine.history.push("elsewhere");
    return [answer, machine.state, sorted(machine.context), [...machine.history]];
  });
  return { told, untouched: JSON.stringify(definition) === given };
});
process.stdout.write(`${JSON.stringify(answers)}\n`);
