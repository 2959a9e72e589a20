/** `strftime` of a local time in the C locale, with glibc's padding flags. */

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

function dayOfYear(time: Date): number {
  const start = Date.UTC(time.getFullYear(), 0, 1);
  return Math.round((Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()) - start) / 86_400_000) + 1;
}

/** Number of the week that begins on `firstDay` (0 = Sunday); days before the first such day are in week 0. */
function weekOfYear(time: Date, firstDay: number): number {
  return Math.floor((dayOfYear(time) + 6 - ((time.getDay() - firstDay + 7) % 7)) / 7);
}

/** ISO 8601 year and week. */
function isoWeek(time: Date): { year: number; week: number } {
  const thursday = new Date(Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 3 - ((thursday.getUTCDay() + 6) % 7));
  const start = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return { year: thursday.getUTCFullYear(), week: Math.floor((thursday.getTime() - start) / 86_400_000 / 7) + 1 };
}

type Field = string | { readonly value: number; readonly width: number; readonly pad?: string };

function number(value: number, width: number, pad = "0"): Field {
  return { value, width, pad };
}

const compound: Readonly<Record<string, string>> = {
  c: "%a %b %e %H:%M:%S %Y",
  D: "%m/%d/%y",
  F: "%Y-%m-%d",
  r: "%I:%M:%S %p",
  R: "%H:%M",
  T: "%H:%M:%S",
  x: "%m/%d/%y",
  X: "%H:%M:%S",
};

function fieldOf(code: string, time: Date): Field | null {
  const hour12 = time.getHours() % 12 || 12;
  const weekday = weekdays[time.getDay()] ?? "";
  const month = months[time.getMonth()] ?? "";
  switch (code) {
    case "a":
      return weekday.slice(0, 3);
    case "A":
      return weekday;
    case "b":
    case "h":
      return month.slice(0, 3);
    case "B":
      return month;
    case "C":
      return number(Math.floor(time.getFullYear() / 100), 2);
    case "d":
      return number(time.getDate(), 2);
    case "e":
      return number(time.getDate(), 2, " ");
    case "f":
      return number(time.getMilliseconds() * 1000, 6);
    case "g":
      return number(isoWeek(time).year % 100, 2);
    case "G":
      return number(isoWeek(time).year, 1);
    case "H":
      return number(time.getHours(), 2);
    case "I":
      return number(hour12, 2);
    case "j":
      return number(dayOfYear(time), 3);
    case "k":
      return number(time.getHours(), 2, " ");
    case "l":
      return number(hour12, 2, " ");
    case "m":
      return number(time.getMonth() + 1, 2);
    case "M":
      return number(time.getMinutes(), 2);
    case "n":
      return "\n";
    case "p":
      return time.getHours() < 12 ? "AM" : "PM";
    case "P":
      return time.getHours() < 12 ? "am" : "pm";
    case "s":
      return number(Math.floor(time.getTime() / 1000), 1);
    case "S":
      return number(time.getSeconds(), 2);
    case "t":
      return "\t";
    case "u":
      return number(time.getDay() || 7, 1);
    case "U":
      return number(weekOfYear(time, 0), 2);
    case "V":
      return number(isoWeek(time).week, 2);
    case "w":
      return number(time.getDay(), 1);
    case "W":
      return number(weekOfYear(time, 1), 2);
    case "y":
      return number(time.getFullYear() % 100, 2);
    case "Y":
      return number(time.getFullYear(), 1);
    case "z":
    case "Z":
      return "";
    case "%":
      return "%";
    default:
      return null;
  }
}

/** A time without zone, as Python's `datetime.now().strftime(format)`. Unknown codes stay as they are. */
export function strftime(format: string, time: Date): string {
  return format.replace(/%([-_0^#]*)(.)/gs, (whole, flags: string, code: string) => {
    const nested = compound[code];
    if (nested !== undefined) return strftime(nested, time);
    const field = fieldOf(code, time);
    if (field === null) return whole;
    const text = typeof field === "string" ? field : paddedNumber(field, flags);
    return flags.includes("^") ? text.toUpperCase() : text;
  });
}

function paddedNumber(field: Exclude<Field, string>, flags: string): string {
  const digits = String(field.value);
  if (flags.includes("-")) return digits;
  const pad = flags.includes("_") ? " " : flags.includes("0") ? "0" : (field.pad ?? "0");
  return digits.padStart(field.width, pad);
}
