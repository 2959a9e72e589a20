/** A proxy bed with a registry of policies, and servers that answer as a test says, saved in it as the policy `teacher`. */
import { resolve } from "node:path";
import { createPolicyRegistry, type PolicyInput, type PolicyRegistry, type Upstream, type UpstreamRequest } from "../../main/proxy/index.ts";
import { layProxyBed, type ProxyBed } from "./proxy-bed.ts";
import { type ScriptedHttp, type ScriptedReply, startScriptedHttp } from "./scripted-http.ts";

export interface TeacherBed extends ProxyBed {
  readonly policies: PolicyRegistry;
  /** Another registry on the same store, as of a later service. */
  registry(): PolicyRegistry;
  /** `post` gets the path and the number of the POST; `get`: what GETs are answered with, by path. */
  teacher(
    input: Partial<PolicyInput>,
    post: (path: string, index: number) => ScriptedReply,
    get?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly server: ScriptedHttp; readonly upstream: Upstream }>;
  notesOf(rolloutId: string): string;
}

export async function layTeacherBed(): Promise<TeacherBed> {
  const bed = await layProxyBed();
  const closing: { close(): Promise<void> }[] = [];
  const registry = (): PolicyRegistry =>
    createPolicyRegistry({ store: bed.store, policiesFolder: resolve("resources/policies"), env: { TEACHER_KEY: "sk-secret-teacher" } });
  const policies = registry();
  return {
    ...bed,
    policies,
    registry,
    async teacher(input, post, get = {}) {
      const server = await startScriptedHttp(get, post);
      await policies.add({ id: "teacher", url: server.url, ...input });
      const upstream = await policies.resolve("teacher");
      closing.push(upstream, server);
      return { server, upstream };
    },
    notesOf: (rolloutId) =>
      bed.store
        .eventsAfter(0, 1_000, { rolloutId })
        .map(({ payload }) => payload)
        .join("\n"),
    async close() {
      for (const each of closing.splice(0)) await each.close();
      await bed.close();
    },
  };
}

/** What a teacher is asked without a proxy. */
export const helloRequest: UpstreamRequest = {
  conversation: {
    ...{ model: "m", tools: [], sampling: { maxTokens: 100 }, stream: false, extra: "{}" },
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  },
  ...{ rolloutId: "r", attempt: 0, callIndex: 0, labels: { dialect: "chat" } },
};
