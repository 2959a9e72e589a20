import type { ComponentProps } from "react";
import { desktop } from "../state/desktop.ts";
import { IconButton } from "./button.tsx";
import { TextInput } from "./field.tsx";

interface PathInputProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  readonly value: string;
  readonly onPath: (path: string) => void;
  /** What may be chosen in the desktop app; in a browser a path is typed, for it names a place on the machine of the service. */
  readonly choose: "folder" | "file" | "both";
  /** Made of a chosen folder; left out, the folder itself. */
  readonly within?: (folder: string) => string;
}

/** A place on the machine of the service. */
export function PathInput({ value, onPath, choose, within = (folder) => folder, className = "", ...rest }: PathInputProps) {
  const take = (chosen: Promise<string | null>, make: (path: string) => string): void =>
    void chosen.then((path) => path !== null && onPath(make(path)));
  return (
    <span className="flex w-full min-w-0 gap-1.5">
      <TextInput {...rest} value={value} className={`font-mono ${className}`} onChange={(event) => onPath(event.target.value)} />
      {desktop !== null && choose !== "file" && (
        <IconButton
          glyph="folder"
          label="Choose a folder…"
          className="size-7!"
          onClick={() => desktop !== null && take(desktop.pickFolder(), within)}
        />
      )}
      {desktop !== null && choose !== "folder" && (
        <IconButton
          glyph="file"
          label="Choose a file…"
          className="size-7!"
          onClick={() => desktop !== null && take(desktop.pickFile(), (path) => path)}
        />
      )}
    </span>
  );
}
