/** What kind of failure a person can say a session was: the causes that lie with the agent. */
export const failureCategories = [
  { value: "tool-misuse", title: "tool misuse: it used a tool wrongly" },
  { value: "unparsed-tool-call", title: "unparsed tool call: it wrote one that cannot be read" },
  { value: "harness-parse-error", title: "harness parse error: the program could not read its answer" },
  { value: "context-overflow", title: "context overflow: the conversation grew too long" },
  { value: "budget-exceeded", title: "budget exceeded: it ran out of turns or time" },
] as const;
