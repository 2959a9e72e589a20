import type { ComponentProps, ReactNode } from "react";
import { commandById } from "../commands/table.ts";
import type { GlyphName } from "./glyphs.tsx";
import { Hint } from "./hint.tsx";
import { Icon } from "./icon.tsx";
import { KeyCaps } from "./key-caps.tsx";

type Look = "plain" | "primary" | "ghost" | "danger";

interface ButtonProps extends Omit<ComponentProps<"button">, "children" | "disabled"> {
  readonly children: ReactNode;
  readonly look?: Look;
  readonly small?: boolean;
  readonly glyph?: GlyphName;
  /** Command whose first key is shown beside the word. */
  readonly command?: string;
  /** A key that only this place listens to. */
  readonly keyShown?: string;
  /** Why it cannot be used now; said in its tooltip. */
  readonly disabledBecause?: string | null;
  /** Below 1200 px only the glyph stays; the word moves to the tooltip. */
  readonly folds?: boolean;
}

const looks: Record<Look, string> = {
  plain: "border-line-strong bg-raised hover:bg-hover active:bg-pressed",
  primary: "border-accent-fill bg-accent-fill text-on-accent hover:border-accent-fill-hover hover:bg-accent-fill-hover",
  ghost: "border-transparent hover:bg-hover active:bg-pressed",
  danger: "border-failed text-failed bg-raised hover:bg-failed-tint",
};
const disabledLook: Record<Look, string> = {
  plain: "border-line text-disabled",
  primary: "border-line text-disabled",
  ghost: "border-transparent text-disabled",
  danger: "border-line text-disabled",
};

/** A verb. One primary button a view at most; the others are plain or ghost. */
export function Button({
  children,
  look = "plain",
  small = false,
  glyph,
  command,
  keyShown,
  disabledBecause = null,
  folds = false,
  className = "",
  ...rest
}: ButtonProps) {
  const key = keyShown ?? (command === undefined ? undefined : commandById(command).keys[0]);
  const size = small ? "h-control-small px-1.75" : "h-control px-2.5";
  const button = (
    <button
      type="button"
      {...rest}
      aria-disabled={disabledBecause !== null}
      onClick={disabledBecause === null ? rest.onClick : undefined}
      className={`inline-flex flex-none items-center gap-1.5 rounded-2 border text-xs font-medium whitespace-nowrap transition-colors duration-(--of-motion-fast) ${size} ${disabledBecause === null ? looks[look] : disabledLook[look]} ${className}`}
    >
      {glyph && <Icon name={glyph} size={0.875} />}
      <span className={folds ? "narrow:hidden" : ""}>{children}</span>
      {key !== undefined && (
        <span className={folds ? "contents narrow:hidden" : "contents"}>
          <KeyCaps value={key} bare inverse={look === "primary"} />
        </span>
      )}
    </button>
  );
  const hint = disabledBecause ?? (folds && typeof children === "string" ? children : null);
  return hint === null ? button : <Hint text={hint}>{button}</Hint>;
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  readonly glyph: GlyphName;
  /** Said by the tooltip and to screen readers. */
  readonly label: string;
  readonly on?: boolean;
  readonly keyShown?: string;
}

/** A glyph that acts; its name is in the tooltip. */
export function IconButton({ glyph, label, on, keyShown, className = "", ...rest }: IconButtonProps) {
  return (
    <Hint text={label} {...(keyShown === undefined ? {} : { keyShown })}>
      <button
        type="button"
        aria-pressed={on}
        {...rest}
        aria-label={label}
        className={`inline-grid size-6 flex-none place-items-center rounded-2 ${on ? "bg-selected text-accent" : "text-secondary hover:bg-hover active:bg-pressed"} ${className}`}
      >
        <Icon name={glyph} size={0.9375} />
      </button>
    </Hint>
  );
}
