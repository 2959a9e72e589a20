/** Numbers as they are read. A space that does not break before units, a real minus, "–" for what is missing; never 0 for it. */
export const missing = "–";
const thin = "\u00a0";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 41,207; from a million on 6.1 M. */
export function count(value: number | null): string {
  if (value === null) return missing;
  if (Math.abs(value) >= 1e9) return `${(value / 1e9).toFixed(1)}${thin}G`;
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(1)}${thin}M`;
  return grouped.format(value).replace("-", "−");
}

/** Always whole digits with separators: positions, ids of tokens. */
export const position = (value: number): string => grouped.format(value);

/** A signed or plain decimal with a real minus. */
export const decimal = (value: number | null, digits = 2): string => (value === null ? missing : value.toFixed(digits).replace("-", "−"));

/** 0.58; null is missing. */
export const reward = (value: number | null): string => decimal(value, 2);

/** ± half of an interval, without its leading zero: ".06". */
export function plusMinus(low: number | null, high: number | null): string | null {
  if (low === null || high === null) return null;
  return `±${thin}${((high - low) / 2).toFixed(2).replace(/^0/, "")}`;
}

const byteUnits = ["B", "kB", "MB", "GB", "TB"] as const;

/** 1.9 kB, decimal units as disks are sold. */
export function bytes(value: number | null): string {
  if (value === null) return missing;
  let scaled = value;
  let unit = 0;
  while (Math.abs(scaled) >= 999.5 && unit < byteUnits.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || scaled >= 100 ? 0 : 1;
  return `${scaled.toFixed(digits)}${thin}${byteUnits[unit] ?? "B"}`;
}

/** "1 call", "3 calls". */
export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

/** p of a log-probability: 0.033, or 6.14e−6. */
export function probability(logprob: number): string {
  const p = Math.exp(logprob);
  if (p >= 0.001) return p.toFixed(3);
  return p.toExponential(2).replace("-", "−");
}
