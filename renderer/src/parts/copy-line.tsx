import { copyText } from "../actions/links.ts";
import { Button } from "./button.tsx";

interface CopyLineProps {
  readonly label: string;
  readonly value: string;
  /** What the message says was copied. */
  readonly what: string;
}

/** A value to be pasted elsewhere. */
export function CopyLine({ label, value, what }: CopyLineProps) {
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-2.5 text-xs">
      <span className="text-secondary">{label}</span>
      <code className="min-w-0 truncate rounded-2 bg-sunken px-2 py-1" title={value}>
        {value}
      </code>
      <Button small onClick={() => void copyText(value, what)} aria-label={`Copy ${what.toLowerCase()}`}>
        Copy
      </Button>
    </div>
  );
}
