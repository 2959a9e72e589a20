/**
 * The sessions that are open, of all models of a trainer. Each holds on to the most memory that a run of it took, and every size of
 * batch has a session of its own: those used longest ago are closed for new ones.
 */
import type { Session } from "../onnx/index.ts";

interface Kept {
  readonly owner: object;
  readonly key: string;
  /** What it holds on to, as foreseen. */
  readonly bytes: number;
  readonly session: Session;
}

export class OpenSessions {
  readonly #budget: number;
  /** Used longest ago first. */
  #kept: readonly Kept[] = [];

  /** `budget`, bytes: of all of them; one alone may take more. */
  constructor(budget = Number.POSITIVE_INFINITY) {
    this.#budget = budget;
  }

  /** The session of a model (`owner`) for `key`, made if it is not open. Only while no session of them runs. */
  async use(owner: object, key: string, bytes: number, make: () => Promise<Session>): Promise<Session> {
    const known = this.#kept.find((one) => one.owner === owner && one.key === key);
    if (known !== undefined) {
      this.#kept = [...this.#kept.filter((one) => one !== known), known];
      return known.session;
    }
    while (this.#bytes() + bytes > this.#budget) {
      const [oldest, ...later] = this.#kept;
      if (oldest === undefined) break;
      this.#kept = later;
      await oldest.session.release();
    }
    const session = await make();
    this.#kept = [...this.#kept, { owner, key, bytes, session }];
    return session;
  }

  #bytes(): number {
    return this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Closes those of a model. */
  async close(owner: object): Promise<void> {
    const closed = this.#kept.filter((one) => one.owner === owner);
    this.#kept = this.#kept.filter((one) => one.owner !== owner);
    for (const { session } of closed) await session.release();
  }
}
