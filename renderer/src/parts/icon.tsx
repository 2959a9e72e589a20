import { type GlyphName, glyphs } from "./glyphs.tsx";

interface IconProps {
  readonly name: GlyphName;
  /** Edge in rem; 1 = 16 px. */
  readonly size?: number;
  readonly className?: string;
  readonly weight?: number;
}

/** A glyph in the colour of its text. Decorative: the word beside it, or the label of its button, says what it means. */
export function Icon({ name, size = 1, className = "", weight = 1.4 }: IconProps) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className={`flex-none ${className}`}
      style={{ width: `${size}rem`, height: `${size}rem` }}
      fill="none"
      stroke="currentColor"
      strokeWidth={weight}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {glyphs[name]}
    </svg>
  );
}

/** The product's mark: a hot token on an anvil, on its own dark plate. */
export function ProductMark({ size }: { readonly size: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 64 64" className="flex-none" style={{ width: `${size}rem`, height: `${size}rem` }}>
      <rect width="64" height="64" rx="14" fill="#1d1e1b" />
      <rect x=".5" y=".5" width="63" height="63" rx="13.5" fill="none" stroke="#4a4d46" />
      <rect x="27" y="11" width="17" height="13" rx="2.5" fill="#f0924a" />
      <rect x="30.5" y="14.5" width="10" height="6" rx="1" fill="#ffd9a8" />
      <path
        fill="#f3f2ee"
        d="M20 28h35v8c-6 .5-10.5 3-12 8h5.5a3 3 0 0 1 3 3v6H17.5v-6a3 3 0 0 1 3-3H27c-1-4.5-3-6.5-7-7.5C13.5 35 9.5 33 8 30.5h12z"
      />
    </svg>
  );
}
