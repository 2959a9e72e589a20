/** The glyphs of the workbench, drawn on a 16 px grid with a 1.4 px line. One subject each; a glyph never stands for two meanings. */
import type { ReactNode } from "react";

export const glyphs = {
  bell: <path d="M3.5 11.5c1-1 1-2.5 1-4.5a3.5 3.5 0 0 1 7 0c0 2 0 3.5 1 4.5zM6.8 13.8h2.4" />,
  bottom: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.2" />
      <path d="M2 9.5h12" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M4 12l8-8" />
    </>
  ),
  chains: (
    <>
      <circle cx="3.5" cy="8" r="1.7" />
      <circle cx="12.5" cy="4" r="1.7" />
      <circle cx="12.5" cy="12" r="1.7" />
      <path d="M5.2 8H8c1.5 0 1-4 2.8-4M8 8c1.5 0 1 4 2.8 4" />
    </>
  ),
  cheat: <path d="M2 6.5c2-1 4-1 6 0 2-1 4-1 6 0-.3 3-1.5 4.5-3 4.5S8.5 9.5 8 8.5C7.5 9.5 6.5 11 5 11S2.3 9.5 2 6.5z" />,
  check: <path d="M3 8.5l3.3 3.3L13 4.8" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M8 4.5V8l2.4 1.5" />
    </>
  ),
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  compare: (
    <>
      <path d="M8 2v12" />
      <rect x="2" y="4" width="3.5" height="8" rx=".8" />
      <rect x="10.5" y="6.5" width="3.5" height="5.5" rx=".8" />
    </>
  ),
  columns: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.2" />
      <path d="M6 2.8v10.4M10 2.8v10.4" />
    </>
  ),
  disk: (
    <>
      <ellipse cx="8" cy="4" rx="5.5" ry="2.2" />
      <path d="M2.5 4v8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4M2.5 8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2" />
    </>
  ),
  down: <path d="M3.5 6L8 10.5 12.5 6" />,
  download: <path d="M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.5h11" />,
  empty: <rect x="2.5" y="2.5" width="11" height="11" rx="1.5" strokeDasharray="2.5 2" />,
  fail: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" />
    </>
  ),
  file: (
    <>
      <path d="M3.5 1.8h6l3 3v9.4h-9z" />
      <path d="M9.5 1.8v3h3" />
    </>
  ),
  filter: <path d="M2 3.5h12M4.5 8h7M6.5 12.5h3" />,
  folder: <path d="M1.8 3.5h4.5l1.5 1.7h6.4v7.8H1.8z" />,
  gold: <path d="M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z" />,
  harness: <path d="M5.5 1.8v3M10.5 1.8v3M3.5 4.8h9v3a4.5 4.5 0 0 1-9 0zM8 12.3v2.2" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M8 7.3v3.7M8 5v.2" />
    </>
  ),
  infra: (
    <>
      <path d="M1.8 14.2l3-3M11.2 4.8l3-3M4.5 7.5L8.5 11.5 7 13a2.83 2.83 0 0 1-4-4zM9 3a2.83 2.83 0 0 1 4 4l-1.5 1.5-4-4z" />
      <path d="M6.3 9.7l1.2-1.2" />
    </>
  ),
  keyboard: (
    <>
      <rect x="1.5" y="4" width="13" height="8.5" rx="1.3" />
      <path d="M4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 10h6" />
    </>
  ),
  link: <path d="M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.2 1.2a3 3 0 0 1-4.5-4.5L4.5 7" />,
  minus: <path d="M3.5 8h9" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2" />,
  ok: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M5.3 8.3l2 2 3.5-4" />
    </>
  ),
  pause: <path d="M5 3v10M11 3v10" strokeWidth="2" />,
  play: <path d="M4.5 2.8v10.4L13 8z" fill="currentColor" />,
  plus: <path d="M8 3v10M3 8h10" />,
  proxy: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M1.8 8h12.4M8 1.8c2.5 2.5 2.5 9.9 0 12.4-2.5-2.5-2.5-9.9 0-12.4" />
    </>
  ),
  queued: <circle cx="8" cy="8" r="6.2" strokeDasharray="2 2" />,
  rec: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <circle cx="8" cy="8" r="2.8" fill="currentColor" stroke="none" />
    </>
  ),
  refresh: (
    <>
      <path d="M13.5 3v3.5H10M2.5 13V9.5H6" />
      <path d="M13 6.5A5.5 5.5 0 0 0 3.2 5M3 9.5A5.5 5.5 0 0 0 12.8 11" />
    </>
  ),
  right: <path d="M6 3.5L10.5 8 6 12.5" />,
  running: (
    <>
      <path d="M14.2 8A6.2 6.2 0 1 1 8 1.8" />
      <circle cx="8" cy="8" r="1.6" fill="currentColor" stroke="none" />
    </>
  ),
  runs: (
    <>
      <path d="M2.5 3.5h11M2.5 8h11M2.5 12.5h7" />
      <path d="M12 10.5v4l3-2z" fill="currentColor" stroke="none" />
    </>
  ),
  safety: (
    <>
      <path d="M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5z" />
      <path d="M8 5v3.5M8 10.8v.2" />
    </>
  ),
  sandbox: (
    <>
      <path d="M8 1.8l5.5 3v6.4L8 14.2l-5.5-3V4.8z" />
      <path d="M2.6 4.9L8 7.9l5.4-3M8 8v6" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.4 10.4L14 14" />
    </>
  ),
  settings: (
    <>
      <path d="M2.5 4.5h5M10.5 4.5h3M2.5 11.5h3M8.5 11.5h5" />
      <circle cx="9" cy="4.5" r="1.5" />
      <circle cx="7" cy="11.5" r="1.5" />
    </>
  ),
  side: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.2" />
      <path d="M10 2.8v10.4" />
    </>
  ),
  star: <path d="M8 2.5v11M3 5l10 6M13 5L3 11" />,
  stop: <rect x="3.8" y="3.8" width="8.4" height="8.4" rx="1" fill="currentColor" />,
  tasks: (
    <>
      <rect x="3" y="2.5" width="10" height="11.5" rx="1.5" />
      <path d="M6 2.5h4v2H6zM5.5 9.3l1.7 1.7 3.3-3.6" />
    </>
  ),
  terminal: (
    <>
      <rect x="1.8" y="2.5" width="12.4" height="11" rx="1.3" />
      <path d="M4.5 6l2.2 2-2.2 2M8.5 10.3h3" />
    </>
  ),
  token: (
    <>
      <path d="M5 2.5H2.5v11H5M11 2.5h2.5v11H11" />
      <rect x="6" y="6" width="4" height="4" rx=".7" fill="currentColor" stroke="none" />
    </>
  ),
  train: (
    <>
      <path d="M2.5 2v11.5H14" />
      <path d="M4.5 11c2-.5 2.5-5.5 5-6.5 1.5-.6 2.5-.5 4-.5" />
    </>
  ),
  up: <path d="M3.5 10L8 5.5 12.5 10" />,
  warn: (
    <>
      <path d="M8 2.2L14.5 13.5h-13z" />
      <path d="M8 6.5v3M8 11.5v.2" />
    </>
  ),
  fault: <path d="M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z" />,
  gpu: (
    <>
      <rect x="4" y="4" width="8" height="8" rx="1" />
      <path d="M6 1.8V4M10 1.8V4M6 12v2.2M10 12v2.2M1.8 6H4M1.8 10H4M12 6h2.2M12 10h2.2" />
    </>
  ),
  edit: <path d="M2.5 13.5l.8-3.3L11 2.5l2.5 2.5-7.7 7.7z" />,
} satisfies Record<string, ReactNode>;

export type GlyphName = keyof typeof glyphs;
