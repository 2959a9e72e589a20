import type { ReactNode } from "react";

/** The fields of a dialog whose buttons stand in its footer: Enter in any of them does what the first button does. */
export function DialogForm({
  onSubmit,
  gap = "gap-2.5",
  children,
}: {
  readonly onSubmit: () => void;
  readonly gap?: string;
  readonly children: ReactNode;
}) {
  return (
    <form
      className={`grid ${gap} px-4.5 py-3.5`}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <button type="submit" className="hidden" aria-hidden="true" tabIndex={-1} />
    </form>
  );
}
