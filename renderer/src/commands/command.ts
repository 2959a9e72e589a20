/** What a command is. Menu, palette, keys and the page of all keys read the one table in table.ts. */
import type { GlyphName } from "../parts/glyphs.tsx";

export const categories = ["Runs", "Rollout", "Tokens", "Train", "Compare", "Tasks", "Harnesses", "Everywhere"] as const;
export type Category = (typeof categories)[number];

export const menus = ["File", "View", "Run", "Help"] as const;
export type MenuName = (typeof menus)[number];

export interface Command {
  readonly id: string;
  /** Sentence case; "…" when more is asked. */
  readonly title: string;
  readonly category: Category;
  /** Default keys; the first is the one shown. */
  readonly keys: readonly string[];
  readonly glyph?: GlyphName;
  readonly menu?: MenuName;
  /** Why it cannot run now, in half a sentence; null when it can. Absent: whenever a mounted screen handles it. */
  readonly when?: () => string | null;
  /** Absent: the screen that is mounted runs it (see handlers.ts). */
  readonly run?: () => void;
  /** Said in the palette when no screen handles it. */
  readonly where?: string;
}
