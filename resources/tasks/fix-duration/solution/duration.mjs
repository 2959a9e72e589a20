const unitSeconds = { d: 86400, h: 3600, m: 60, s: 1 };

/** Seconds of a text such as `2h 30m`; anything else is a RangeError. */
export function parseDuration(text) {
  const match = /^\s*(?:([0-9]+)\s*d)?\s*(?:([0-9]+)\s*h)?\s*(?:([0-9]+)\s*m)?\s*(?:([0-9]+)\s*s)?\s*$/i.exec(text);
  if (match === null || text.trim() === "") throw new RangeError(`not a duration: ${text}`);
  return Object.values(unitSeconds).reduce((sum, seconds, index) => sum + Number(match[index + 1] ?? 0) * seconds, 0);
}

/** The shortest text for a number of seconds. */
export function formatDuration(seconds) {
  if (!Number.isInteger(seconds) || seconds < 0) throw new RangeError(`no number of seconds: ${seconds}`);
  const parts = [];
  let rest = seconds;
  for (const [unit, size] of Object.entries(unitSeconds)) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  return parts.join(" ") || "0s";
}
