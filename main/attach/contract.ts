/**
 * Programs outside any sandbox, recorded: each gets a base address and a key, its calls are told apart into sessions, and each session is
 * a rollout of an experiment of its own. What came of a session, and what the policy should have said, a person adds later.
 */
import type { OutcomeCause } from "../../engine/outcome/index.ts";

export interface AttachRequest {
  readonly name: string;
  /** A name that the policy registry resolves. */
  readonly policy: string;
}

export interface Attached {
  readonly id: string;
  readonly experiment: string;
  /** Opens the model routes of this address and nothing else; told once. */
  readonly key: string;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly dialects: { readonly chat: string; readonly responses: string; readonly messages: string; readonly gemini: string };
}

export interface AttachCounts {
  readonly sessions: number;
  readonly calls: number;
}

/** An address that is open now. */
interface Attachment extends Omit<Attached, "key">, AttachRequest, AttachCounts {
  readonly startedAt: number;
}

/** A person's word on how a session went. */
export interface SessionVerdict {
  readonly status: "succeeded" | "failed";
  /** What kind of failure; null = none, or not known. */
  readonly cause: OutcomeCause | null;
  readonly note: string | null;
}

export interface AttachService {
  /** Rejects with WorkbenchError when the policy cannot be had. */
  start(request: AttachRequest): Promise<Attached>;
  /** Newest first. */
  list(): readonly Attachment[];
  counts(id: string): AttachCounts;
  /** Cancels what runs and ends its sessions. */
  stop(id: string): Promise<AttachCounts>;
  /** Throws WorkbenchError for a rollout that is no attached session. */
  grade(rolloutId: string, verdict: SessionVerdict): void;
  /** What the policy should have answered, as text; takes the place of an earlier correction. Empty = takes it back. */
  correct(callId: string, text: string): void;
  /** Ends what a killed service left. */
  endUnfinished(): void;
  close(): Promise<void>;
}
