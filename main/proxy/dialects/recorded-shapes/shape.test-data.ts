/** A request as a real harness sends it, and what is to be read of it. */
import type { DialectId } from "../dialect.ts";

export interface Shape {
  readonly of: string;
  readonly dialect: DialectId;
  readonly path?: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** s(ystem), d(eveloper), u(ser), a(ssistant), t(ool), o(ther) in their order; capital = with an image. */
  readonly roles: string;
  /** `name arguments` of all calls. */
  readonly calls?: readonly string[];
}

/** A picture of three bytes. */
export const png = "data:image/png;base64,AAEC";
