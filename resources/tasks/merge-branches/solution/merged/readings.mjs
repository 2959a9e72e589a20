/** One reading of the sensor as a line of text, with its unit, or that there is none. */
export function describe(reading) {
  return `${reading.place}: ${reading.value ?? "no value"} ${reading.unit}`;
}

/** The mean of those readings that have a value; null when there is none. */
export function mean(readings) {
  const known = readings.filter((reading) => reading.value !== null);
  if (known.length === 0) return null;
  let sum = 0;
  for (const reading of known) sum += reading.value;
  return sum / known.length;
}
