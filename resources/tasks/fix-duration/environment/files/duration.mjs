const unitSeconds = { d: 86400, h: 3600, m: 60, s: 1 };

/** Seconds of a text such as `2h 30m`. */
export function parseDuration(text) {
  let seconds = 0;
  for (const [, number, unit] of text.matchAll(/(\d+)\s*([dhms])/g)) {
    seconds = number * unitSeconds[unit];
  }
  return seconds;
}

/** The shortest text for a number of seconds. */
export function formatDuration(seconds) {
  const parts = [];
  let rest = seconds;
  for (const unit of ["d", "h", "m", "s"]) {
    const count = Math.round(rest / unitSeconds[unit]);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * unitSeconds[unit];
  }
  return parts.join(" ");
}
