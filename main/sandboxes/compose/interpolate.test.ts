import fc from "fast-check";
import { expect, it } from "vitest";
import { interpolate } from "./interpolate.ts";

const values: Readonly<Record<string, string>> = { HOST: "db", EMPTY: "", USER: "me" };
const filled = (text: string): string => interpolate(text, (name) => values[name]).text;

/** `${…}`, written so that it is no forgotten template. */
const braced = (inner: string): string => ["$", "{", inner, "}"].join("");

it("fills in variables, their defaults and alternatives", () => {
  expect(filled(`http://${braced("HOST")}:${braced("PORT:-5432")}/`)).toBe("http://db:5432/");
  const forms = ["EMPTY:-x", "EMPTY-x", "NONE-x", "HOST:+on", "NONE:+on", `NONE:-${braced("HOST")}-1`];
  expect(forms.map((form) => filled(braced(form)))).toEqual(["x", "", "x", "on", "", "db-1"]);
});

it("leaves other dollar signs as they are", () => {
  const given = ["$2b$12$Pg8A.R2", "$", "a$", "${", braced("1"), "$$HOME", "$USER's", "$(date)", "$NONE"];
  const arrived = ["$2b$12$Pg8A.R2", "$", "a$", "${", braced("1"), "$HOME", "me's", "$(date)", "$NONE"];
  expect(given.map(filled)).toEqual(arrived);
});

it("tells what is not set", () => {
  expect(interpolate(["A", "B:-", "A"].map(braced).join(""), () => undefined)).toEqual({ text: "", unset: ["A", "A"], complaint: null });
  expect(interpolate(braced("A:?give it"), () => undefined).complaint).toBe("A must be set: give it");
});

it("gives any text back whose dollar signs are doubled", () => {
  fc.assert(fc.property(fc.string(), (text) => filled(text.replaceAll("$", "$$$$")) === text));
});
