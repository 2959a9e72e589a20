/** Text in runs: each is trimmed, empty ones are left out, a blank line stands between two. Gives out what is certain. */
export class TrimmedText {
  #given = "";
  /** White space that stays only if more text follows in this run. */
  #held = "";
  #runBegun = false;

  /** Adds to the current run; the answer is what can be given out now. */
  add(text: string): string {
    const whole = this.#held + text;
    const visible = this.#runBegun ? whole : whole.trimStart();
    const kept = visible.trimEnd();
    this.#held = visible.slice(kept.length);
    if (kept === "") return "";
    const delta = !this.#runBegun && this.#given !== "" ? `\n\n${kept}` : kept;
    this.#runBegun = true;
    this.#given += delta;
    return delta;
  }

  breakRun(): void {
    this.#held = "";
    this.#runBegun = false;
  }

  /** Everything given out; null when that is nothing. */
  value(): string | null {
    return this.#given === "" ? null : this.#given;
  }
}
