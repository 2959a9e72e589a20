/** Any thrown thing as a person reads it: what happened, what to do. */
import { ORPCError } from "@orpc/client";

export interface Failure {
  readonly message: string;
  readonly remedy: string | null;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

/** The service is away. Thrown for actions; lists wait instead. */
export class ServiceAway extends Error {
  constructor() {
    super("The service does not answer.");
    this.name = "ServiceAway";
  }
}

function remedyOf(data: unknown): string | null {
  if (typeof data !== "object" || data === null || !("remedy" in data)) return null;
  return typeof data.remedy === "string" && data.remedy !== "" ? sentence(data.remedy) : null;
}

export function asFailure(error: unknown): Failure {
  if (error instanceof ServiceAway) return { message: error.message, remedy: "It is being asked again; repeat the action when it is back." };
  if (error instanceof ORPCError) {
    const remedy = remedyOf(error.data);
    if (error.code === "WORKBENCH") return { message: sentence(error.message), remedy };
    return { message: sentence(error.message === "" ? `The service answered ${error.code}` : error.message), remedy };
  }
  if (error instanceof Error) return { message: sentence(error.message), remedy: null };
  return { message: "Something unknown went wrong.", remedy: "The service log has the details." };
}

/** Whether the call ended because the connection or this page ended it: nothing to show. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || /abort/i.test(error.message));
}
