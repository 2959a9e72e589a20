import { expect, test } from "vitest";
import { credentialOf, errorDialectOf, readRoute } from "./routes.ts";

test.each([
  ["POST", "/r/a1/v1/chat/completions", { kind: "model", rolloutId: "a1", dialect: "chat" }],
  ["POST", "/r/a1/chat/completions?x=1", { kind: "model", rolloutId: "a1", dialect: "chat" }],
  ["POST", "/r/a1/v1/responses/", { kind: "model", rolloutId: "a1", dialect: "responses" }],
  ["GET", "/r/a1/v1/responses", { kind: "unknown", rolloutId: "a1" }],
  ["POST", "/r/a1/v1/responses/compact", { kind: "unknown", rolloutId: "a1" }],
  ["GET", "/r/a1/v1/models/x", { kind: "models", rolloutId: "a1" }],
  ["POST", "/r/a1/v1/messages?beta=true", { kind: "model", rolloutId: "a1", dialect: "messages" }],
  ["POST", "/r/a1/v1/messages/count_tokens", { kind: "count", rolloutId: "a1", dialect: "messages" }],
  ["POST", "/r/a1/v1beta/models/m:streamGenerateContent?alt=sse", { kind: "model", rolloutId: "a1", dialect: "gemini" }],
  ["POST", "/r/a1/models/m:generateContent", { kind: "model", rolloutId: "a1", dialect: "gemini" }],
  ["POST", "/r/a1/v1beta/models/m:countTokens", { kind: "count", rolloutId: "a1", dialect: "gemini" }],
  ["POST", "/r/a1/v1beta/models/m:embedContent", { kind: "unknown", rolloutId: "a1" }],
  ["GET", "/r/a1/v1beta/models", { kind: "models", rolloutId: "a1" }],
  ["HEAD", "/r/a1/api/hello", { kind: "health", rolloutId: "a1" }],
  ["GET", "/r/a1", { kind: "health", rolloutId: "a1" }],
  ["POST", "/r/a1/v1/chat/completions/../../../b/v1/responses", { kind: "unknown", rolloutId: "a1" }],
  ["POST", "/v1/chat/completions", { kind: "outside" }],
  ["GET", "/r/", { kind: "outside" }],
])("%s %s", (method, url, route) => {
  expect(readRoute(method, url)).toEqual(route);
});

test("keys are found where clients of the dialects put them", () => {
  expect(credentialOf({ authorization: "bearer  k " }, "/")).toBe("k");
  expect(credentialOf({ "x-api-key": "k" }, "/")).toBe("k");
  expect(credentialOf({ "api-key": "k" }, "/")).toBe("k");
  expect(credentialOf({ "x-goog-api-key": "k" }, "/")).toBe("k");
  expect(credentialOf({}, "/r/a1/v1beta/models/m:generateContent?alt=sse&key=k")).toBe("k");
  expect(credentialOf({}, "/")).toBeNull();
});

test.each([
  ["/r/a1/v1/chat/completions", { "anthropic-version": "2023-06-01" }, "chat"],
  ["/r/a1/v1/responses?x=1", {}, "responses"],
  ["/r/a1/v1/messages/batches", {}, "messages"],
  ["/r/a1/v1beta/models/m:embedContent", {}, "gemini"],
  ["/r/a1/v1/complete", { "anthropic-version": "2023-06-01" }, "messages"],
  ["/r/a1/v1beta/files", { "x-goog-api-key": "k" }, "gemini"],
  ["", {}, "chat"],
])("an error at %j with %j is one of %s", (url, headers, dialect) => {
  expect(errorDialectOf(url, headers)).toBe(dialect);
});
