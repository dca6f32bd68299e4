import { describe, expect, test } from "vitest";
import { same, textOf, typedValue, valueInWords } from "./values";

describe("the value of a setting", () => {
  test("is said in words", () => {
    expect([null, [], ["/a", "/b"], true, false, 24, "ask"].map(valueInWords)).toEqual([
      "not set",
      "none",
      "/a, /b",
      "on",
      "off",
      "24",
      "ask",
    ]);
  });

  test("is what was typed: a number, nothing, lines, or text that the server refuses", () => {
    expect(typedValue("number", " 24 ")).toBe(24);
    expect(typedValue("number", "")).toBeNull();
    expect(typedValue("number", "many")).toBe("many");
    expect(typedValue("number", "Infinity")).toBe("Infinity");
    expect(typedValue("list", "/a\n /b \n")).toEqual(["/a", "/b"]);
    expect(typedValue("list", " ")).toEqual([]);
    expect(typedValue("choice", "ask")).toBe("ask");
    expect(typedValue("switch", "false")).toBe(false);
  });

  test("stands in its box as it is typed", () => {
    for (const [kind, value] of [
      ["list", ["/a", "/b"]],
      ["number", 0.5],
      ["number", null],
      ["switch", true],
    ] as const) {
      expect(same(typedValue(kind, textOf(value)), value)).toBe(true);
    }
  });
});
