/** A model or adapter that cannot be used here: what it is and why, in one sentence. */
export class ModelError extends Error {
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}.`);
    this.name = "ModelError";
  }
}
