/**
 * One address for a program outside any sandbox. Its requests are told apart into sessions, each with a call machine and a record of
 * its own; the first request of a session opens it.
 */
import type { Conversation } from "../../engine/conversation/index.ts";
import type { Arrival } from "./call-entry.ts";
import type { AttachOptions, SessionStats } from "./contract.ts";
import { countTokens, sendCount } from "./count-tokens.ts";
import { brokenFault } from "./faults.ts";
import type { Exchange } from "./http/exchange.ts";
import type { SessionCore } from "./session.ts";
import { createSessionGrouping, type GroupedRequest } from "./session-grouping.ts";

export interface AttachCore extends Pick<SessionCore, "accept" | "refuse" | "count" | "endAgentPhase" | "close"> {
  sessions(): readonly { readonly rolloutId: string; readonly stats: SessionStats }[];
}

interface Attached {
  readonly rolloutId: string;
  readonly core: Promise<SessionCore>;
  opened: SessionCore | null;
}

/** `openCore` makes the call machine of one more session. */
export function createAttachCore(options: AttachOptions, openCore: (rolloutId: string) => Promise<SessionCore>): AttachCore {
  const grouping = createSessionGrouping<Attached>();
  const all: Attached[] = [];
  let ended = false;

  function sessionOf(arrival: Arrival): Attached {
    const request = grouped(arrival);
    const found = grouping.find(request) ?? open(arrival);
    grouping.keep(request, found);
    return found;
  }

  function open(arrival: Arrival): Attached {
    const rolloutId = options.openSession({ dialect: arrival.dialect.id, client: arrival.headers["user-agent"] ?? "" });
    const core = openCore(rolloutId);
    const made: Attached = { rolloutId, core, opened: null };
    core.then(
      (opened) => {
        made.opened = opened;
        if (ended) opened.endAgentPhase();
      },
      () => undefined,
    );
    all.push(made);
    return made;
  }

  return {
    accept(arrival, exchange: Exchange) {
      // What can't be read as a request belongs to nobody: it is answered and not recorded.
      if (arrival.refusal !== null || arrival.conversation === null) {
        const fault = arrival.refusal ?? brokenFault;
        exchange.finish({ status: fault.status, contentType: "application/json", body: arrival.dialect.errorBody(fault) });
        return;
      }
      sessionOf(arrival).core.then(
        (core) => core.accept(arrival, exchange),
        (error: unknown) => {
          console.error("proxy, attach:", error);
          exchange.finish({ status: brokenFault.status, contentType: "application/json", body: arrival.dialect.errorBody(brokenFault) });
        },
      );
    },
    refuse: () => undefined,
    count(arrival, exchange) {
      const core = arrival.conversation === null ? null : (grouping.find(grouped(arrival))?.opened ?? null);
      if (core !== null) {
        core.count(arrival, exchange);
        return;
      }
      // Before there is a session that it belongs to, it is answered and not recorded: counting alone begins none.
      const some = all.find(({ opened }) => opened !== null)?.opened ?? null;
      sendCount(
        exchange,
        countTokens(arrival, (conversation) => some?.tokensOf(conversation) ?? null),
      );
    },
    endAgentPhase() {
      ended = true;
      for (const { opened } of all) opened?.endAgentPhase();
    },
    async close() {
      ended = true;
      for (const { core } of all)
        await core.then(
          (opened) => opened.close(),
          () => undefined,
        );
    },
    sessions: () => all.flatMap(({ rolloutId, opened }) => (opened === null ? [] : [{ rolloutId, stats: opened.stats() }])),
  };
}

function grouped({ headers, requestKey, conversation }: Arrival): GroupedRequest {
  return { headers, requestKey, bodyNames: conversation === null ? [] : bodyNames(conversation), messages: conversation?.messages ?? [] };
}

/** `prompt_cache_key`, and the session inside `metadata.user_id` as one client writes it. */
function bodyNames({ extra }: Conversation): readonly string[] {
  const members = JSON.parse(extra) as Readonly<Record<string, unknown>>;
  const key = members.prompt_cache_key;
  if (typeof key === "string" && key !== "") return [key];
  const metadata = members.metadata;
  const user = typeof metadata === "object" && metadata !== null && "user_id" in metadata ? metadata.user_id : null;
  if (typeof user !== "string" || !user.startsWith("{")) return [];
  try {
    const parsed: unknown = JSON.parse(user);
    const session = typeof parsed === "object" && parsed !== null && "session_id" in parsed ? parsed.session_id : null;
    return typeof session === "string" ? [session] : [];
  } catch {
    return [];
  }
}
