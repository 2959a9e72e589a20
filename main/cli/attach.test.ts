import { expect, test } from "vitest";
import { wrappedEnvironment } from "./attach.ts";

const attached = {
  key: "ofa-1",
  baseUrl: "http://127.0.0.1:9/r/a-1/v1",
  dialects: { chat: "http://127.0.0.1:9/r/a-1/v1", responses: "", messages: "http://127.0.0.1:9/r/a-1", gemini: "http://127.0.0.1:9/r/a-1" },
};

test("a wrapped program asks the address by our key, whatever keys and web proxy the person has", () => {
  const own = { PATH: "/bin", ANTHROPIC_API_KEY: "mine", GOOGLE_API_KEY: "mine", OPENAI_API_KEY: "mine", no_proxy: "example.org" };
  const environment = wrappedEnvironment(own, attached);
  expect(Object.values(environment)).not.toContain("mine");
  expect(environment).toMatchObject({ PATH: "/bin", OPENAI_API_KEY: "ofa-1", ANTHROPIC_BASE_URL: "http://127.0.0.1:9/r/a-1" });
  expect([environment.NO_PROXY, environment.no_proxy]).toEqual(["example.org,127.0.0.1", "example.org,127.0.0.1"]);
});
