import { describe, expect, it } from "vitest";
import { createLinkDesk, linkAmong } from "./deep-links.ts";

describe("links from other programs", () => {
  it("are found among the arguments of a start", () => {
    expect(linkAmong(["app", "--data=/tmp/x", "openforge://run/r-1/call/3"])).toBe("openforge://run/r-1/call/3");
    expect(linkAmong(["app", "https://example.org", `openforge://${"a".repeat(3000)}`])).toBeNull();
  });

  it("wait until the window listens, and go to the window that does", () => {
    const desk = createLinkDesk();
    const heard: string[] = [];
    desk.arrived("openforge://runs");
    desk.arrived(null);
    desk.listens((link) => heard.push(`first ${link}`));
    desk.left();
    desk.arrived("openforge://tasks");
    desk.arrived("openforge://settings");
    desk.listens((link) => heard.push(`second ${link}`));
    expect(heard).toEqual(["first openforge://runs", "second openforge://settings"]);
  });
});
