import { describe, expect, it } from "vitest";
import { barred, mayNot, role } from "./role";

describe("a role", () => {
  it("may do what the ones before it may", () => {
    expect(mayNot("view", "view")).toBe(null);
    expect(mayNot("operate", "decide")).toBe(null);
    expect(mayNot("own", "own")).toBe(null);
  });

  it("says what is missing, and who can change it", () => {
    const why = mayNot("decide", "operate");
    expect(why).toContain("Your role is operate.");
    expect(why).toContain("airboss token change NAME --role decide");
  });

  it("bars nothing before it is known", () => {
    expect(mayNot("own", null)).toBe(null);
  });

  it("disables a control with the reason", () => {
    role.value = "view";
    expect(barred("view")).toEqual({});
    expect(barred("own")).toEqual({ disabled: true, title: mayNot("own", "view") });
    role.value = null;
  });
});
