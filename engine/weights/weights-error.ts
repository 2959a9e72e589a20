/** A weights file that cannot be used: which file, which tensor or offset, what is wrong. One sentence. */
export class WeightsError extends Error {
  constructor(file: string, problem: string) {
    super(`${file}: ${problem}.`);
    this.name = "WeightsError";
  }
}
