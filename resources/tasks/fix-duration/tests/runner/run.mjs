// Runs in a process of its own that can read the module and nothing else: it answers what the module answers.
const { parseDuration, formatDuration } = await import("file:///app/duration.mjs");
const calls = JSON.parse(process.argv[2]);
const answers = calls.map(([name, argument]) => {
  const value = argument === "NaN" && name === "formatDuration" ? Number.NaN : argument;
  try {
    return { value: name === "parseDuration" ? parseDuration(value) : formatDuration(value) };
  } catch (error) {
    return { range: error instanceof RangeError };
  }
});
process.stdout.write(`${JSON.stringify(answers)}\n`);
