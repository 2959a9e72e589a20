/** Tasks, harnesses, policies and the look at a computer, invented. */
import type { HarnessProbeView, HarnessView } from "../../../main/api/harness-views.ts";
import type { PolicyView } from "../../../main/api/policy-views.ts";
import type { DoctorRow } from "../../../main/api/system-views.ts";
import type { TaskView } from "../../../main/api/task-views.ts";

const task = (name: string, family: string, change: Partial<TaskView> = {}): TaskView => ({
  path: `/opt/openforge/resources/tasks/${name}`,
  name: `openforge/${name}`,
  family,
  digest: "sha256:3f9a1c7be0d2415f8ba2",
  valid: true,
  description: "Recover the orders table of a database that was not closed.",
  instruction:
    "The database `data/app.db` was not closed.\n\n1. Recover the orders table into `new.db`.\n2. Every order must survive, by id and total.\n3. Leave `data/` as it is.\n",
  network: "no-network",
  starter: true,
  faults: [],
  ...change,
});

export const tasks: readonly TaskView[] = [
  task("csv-dedupe-stable", "text"),
  task("files-archive", "files"),
  task("git-bisect-flaky", "git"),
  task("json-ledger", "text"),
  task("mcp-notes", "tools"),
  task("py-tz-offset", "code"),
  task("my-first-task", "files", {
    path: "/home/ada/tasks/my-first-task",
    starter: false,
    valid: false,
    digest: null,
    faults: [
      { file: "task.toml", line: 12, severity: "error", message: 'environment.network_mode is "off"; it must be public, no-network or allowlist' },
      { file: "task.toml", line: 19, severity: "warning", message: "verifier.timeout is not a key and is ignored; did you mean timeout_sec?" },
    ],
  }),
];

const known = { homepage: "https://example.org", fault: null, contextWindow: 128_000, maxTokens: 8192 };

export const sampleProbe: HarnessProbeView = {
  at: Date.UTC(2026, 10, 30, 9, 0, 0),
  ok: true,
  detail: "2 chat calls arrived at /v1/chat/completions, streamed.",
  capture: "ids+logprobs",
  version: "1.0.0",
  sandbox: "local",
  machine: "bench (linux x64)",
  seconds: 0.4,
  extends: true,
};

export const harnesses: readonly HarnessView[] = [
  {
    ...known,
    id: "react",
    name: "ReACT",
    version: "1.0.0",
    licence: "Apache-2.0",
    summary: "The reference agent: one readable file, chat dialect, bash and MCP tools.",
    dialects: ["chat"],
    prefix: "exact",
    resident: true,
    installed: true,
    install: "bundled",
    needs: { runtime: "node", runtimeVersion: "20", toInstall: [], programs: ["bash"], display: false, diskMb: 1, memoryMb: 60 },
    mcp: ["stdio"],
    skills: false,
    lacks: { skills: "it reads no skills" },
    lastProbe: sampleProbe,
  },
  {
    ...known,
    id: "codex",
    name: "Codex",
    version: "0.171.0",
    licence: "Apache-2.0",
    summary: "OpenAI's terminal agent, run as it ships; speaks Responses.",
    dialects: ["responses"],
    prefix: "after-normalising",
    resident: false,
    installed: false,
    install: "npm",
    needs: { runtime: "native", runtimeVersion: null, toInstall: ["npm"], programs: [], display: false, diskMb: 306, memoryMb: 152 },
    mcp: ["stdio", "streamable-http"],
    skills: true,
    lacks: {},
    lastProbe: null,
  },
];

const noSettings = { model: null, keyVariable: null, tokenizer: null, contextWindow: null, prices: null, spendingLimit: null };

const policy = (change: Partial<PolicyView> & Pick<PolicyView, "id" | "kind" | "address">): PolicyView => ({
  capture: "ids+logprobs",
  takesTokenIds: true,
  builtIn: false,
  settings: null,
  spending: null,
  ...change,
});

export const policies: PolicyView[] = [
  policy({ id: "scripted", kind: "scripted", address: "resources/policies/starter.yaml", builtIn: true }),
  policy({ id: "qwen3-4b-forge", kind: "vllm", address: "http://127.0.0.1:8000", settings: noSettings }),
  policy({ id: "smollm2-gguf", kind: "llama.cpp", address: "http://127.0.0.1:8080", settings: noSettings }),
  policy({
    id: "teacher",
    kind: "anthropic-compatible",
    address: "https://teacher.example/v1",
    capture: "text-only",
    takesTokenIds: false,
    settings: { ...noSettings, model: "large-2", keyVariable: "TEACHER_KEY", prices: { input: 3, output: 15, cachedInput: 0.3 }, spendingLimit: 20 },
    spending: { calls: 214, promptTokens: 1_920_400, cachedTokens: 610_000, completionTokens: 88_310, cost: 7.08, limit: 20 },
  }),
  policy({
    ...{ id: "gateway", kind: "openai-compatible", address: "http://10.0.0.7:4000/v1" },
    ...{ capture: null, takesTokenIds: false, settings: noSettings },
  }),
];

export const doctor: readonly DoctorRow[] = [
  { name: "Local sandbox", status: "ready", detail: "bubblewrap 0.8.0; namespaces work", remedy: null },
  {
    name: "Docker",
    status: "missing",
    detail: "no daemon answers at /var/run/docker.sock",
    remedy: "Start the Docker daemon; the starter tasks use the local sandbox until then.",
  },
  { name: "Kubernetes", status: "missing", detail: "no kubeconfig", remedy: null },
  { name: "GPU", status: "missing", detail: "none; the scripted policy runs on 2 CPU cores", remedy: null },
  { name: "Proxy", status: "ready", detail: "listening on 127.0.0.1:7411", remedy: null },
  { name: "Disk", status: "ready", detail: "78 GB free", remedy: null },
];
