/** Window place and size, kept between starts and clamped to a connected display. */
import { readFileSync, writeFileSync } from "node:fs";

export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const smallest = { width: 720, height: 450 };

/** `saved` moved and shrunk so that it lies wholly in the work area that it overlaps most; centred when it overlaps none. */
export function clampBounds(saved: Bounds, workAreas: readonly [Bounds, ...Bounds[]]): Bounds {
  const overlap = (area: Bounds): number => {
    const width = Math.min(saved.x + saved.width, area.x + area.width) - Math.max(saved.x, area.x);
    const height = Math.min(saved.y + saved.height, area.y + area.height) - Math.max(saved.y, area.y);
    return Math.max(0, width) * Math.max(0, height);
  };
  const area = workAreas.reduce((best, next) => (overlap(next) > overlap(best) ? next : best));
  const width = Math.min(Math.max(saved.width, smallest.width), area.width);
  const height = Math.min(Math.max(saved.height, smallest.height), area.height);
  if (overlap(area) === 0)
    return { x: area.x + Math.round((area.width - width) / 2), y: area.y + Math.round((area.height - height) / 2), width, height };
  return {
    x: Math.min(Math.max(saved.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(saved.y, area.y), area.y + area.height - height),
    width,
    height,
  };
}

function isBounds(value: unknown): value is Bounds {
  if (typeof value !== "object" || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return ["x", "y", "width", "height"].every((name) => Number.isFinite(fields[name]));
}

/** The saved bounds, or null when there are none that can be read. */
export function readBounds(file: string): Bounds | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isBounds(value) ? value : null;
  } catch {
    return null;
  }
}

export function writeBounds(file: string, bounds: Bounds): void {
  writeFileSync(file, JSON.stringify(bounds));
}
