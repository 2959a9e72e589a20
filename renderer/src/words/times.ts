import { missing } from "./numbers.ts";

/** Times as they are read: 2.1 s, 4:48, 48 m, 2 h 05 m. All inputs are seconds unless named otherwise. */
const thin = "\u00a0";

/** Short work, one call or phase: 4 ms, 2.1 s, 221 s. */
export function seconds(value: number | null): string {
  if (value === null) return missing;
  if (value < 0.1) return `${Math.round(value * 1000)}${thin}ms`;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${thin}s`;
}

/** A rollout: 0:40, 15:00, 1:02:09. */
export function clock(value: number | null): string {
  if (value === null) return missing;
  const whole = Math.max(0, Math.round(value));
  const two = (part: number): string => String(part).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** An experiment: 12 s, 48 m, 2 h 05 m, 4 d 16 h. */
export function span(value: number | null): string {
  if (value === null) return missing;
  if (value < 60) return `${Math.round(value)}${thin}s`;
  if (value < 2 * 3600) return `${Math.round(value / 60)}${thin}m`;
  if (value >= 48 * 3600) return `${Math.floor(value / 86_400)}${thin}d ${Math.floor((value % 86_400) / 3600)}${thin}h`;
  return `${Math.floor(value / 3600)}${thin}h ${String(Math.floor((value % 3600) / 60)).padStart(2, "0")}${thin}m`;
}

/** Wall time of a moment (ms), with the date when it is not today. */
export function moment(at: number, now: number = Date.now()): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const sameDay = date.toDateString() === new Date(now).toDateString();
  return sameDay ? time : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time}`;
}
