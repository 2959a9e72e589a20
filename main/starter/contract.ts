/** The starter experiment: small shell tasks of five families, and what is known of each. */

export const starterFamilies = ["write", "calc", "find", "dir", "rename"] as const;
export type StarterFamily = (typeof starterFamilies)[number];

/** Harnesses of ours that the starter policy can act in; it learned mostly in the first. */
export const starterHarnesses = ["react", "console", "scratchpad"] as const;
export type StarterHarness = (typeof starterHarnesses)[number];

/** No task of one split is in the other; words, names and wordings are shared. */
export type StarterSplit = "train" | "held-out";

/** What an agent finds and what it is to leave behind. Paths are relative to the working folder; every file is one line. */
interface Situation {
  readonly instruction: string;
  readonly files: Readonly<Record<string, string>>;
  /** Folders that are there, and empty. */
  readonly folders: readonly string[];
  /** Line that a file must hold; null = must not be there. */
  readonly wanted: Readonly<Record<string, string | null>>;
  /** Shell command that solves it. */
  readonly solution: string;
}

export type StarterTask = Situation &
  (
    | { readonly family: "write"; readonly words: readonly string[]; readonly file: string }
    | {
        readonly family: "calc";
        readonly source: string;
        readonly target: string;
        readonly number: number;
        readonly operator: "*" | "+" | "-";
        readonly operand: number;
        readonly result: number;
      }
    | { readonly family: "find"; readonly candidates: readonly string[]; readonly holder: string; readonly word: string; readonly target: string }
    | { readonly family: "dir"; readonly folder: string; readonly word: string; readonly file: string }
    | { readonly family: "rename"; readonly name: string; readonly source: string; readonly target: string }
  );

export interface GenerateOptions {
  readonly split: StarterSplit;
  readonly count: number;
  readonly seed: number;
  /** Receives one folder a task; made when it is not there. */
  readonly folder: string;
}

/** A task package that was written. */
export interface StarterPackage {
  /** Absolute. */
  readonly folder: string;
  readonly name: string;
  readonly family: StarterFamily;
}
