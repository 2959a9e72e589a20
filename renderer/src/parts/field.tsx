import { type ComponentProps, type ReactNode, useId } from "react";
import { Icon } from "./icon.tsx";

interface FieldProps {
  readonly label: string;
  readonly children: (ids: { readonly id: string; readonly "aria-describedby": string | undefined; readonly "aria-invalid": boolean }) => ReactNode;
  /** What the field takes, said beside or below it. */
  readonly about?: ReactNode;
  /** What is wrong, with an example. */
  readonly error?: string | null;
  /** The control takes the whole width below the label. */
  readonly stacked?: boolean;
}

/** A control with its label; a mistake sits right under it. */
export function Field({ label, children, about, error = null, stacked = false }: FieldProps) {
  const id = useId();
  const describedBy = error !== null ? `${id}-error` : about !== undefined ? `${id}-about` : undefined;
  return (
    <div className={`text-xs ${stacked ? "grid gap-1" : "grid grid-cols-[6rem_minmax(0,1fr)] items-center gap-x-2.5"}`}>
      <label htmlFor={id} className="text-secondary">
        {label}
      </label>
      <div className={`flex min-w-0 gap-x-2.5 gap-y-1 ${stacked ? "flex-col" : "items-center"}`}>
        {children({ id, "aria-describedby": describedBy, "aria-invalid": error !== null })}
        {about !== undefined && !(stacked && error !== null) && (
          <span id={`${id}-about`} className="min-w-0 text-2xs text-muted">
            {about}
          </span>
        )}
      </div>
      {error !== null && (
        <p id={`${id}-error`} className={`m-0 mt-1 flex gap-1.5 ${stacked ? "" : "col-start-2"}`}>
          <Icon name="fail" size={0.875} className="mt-px text-failed" />
          <span>{error}</span>
        </p>
      )}
    </div>
  );
}

export const TextInput = ({ className = "", ...rest }: ComponentProps<"input">) => (
  <input type="text" spellCheck={false} autoComplete="off" {...rest} className={`control w-full ${className}`} />
);

export const NumberInput = ({ className = "", ...rest }: ComponentProps<"input">) => (
  <input type="text" inputMode="numeric" autoComplete="off" {...rest} className={`control w-20 tabular-nums ${className}`} />
);
