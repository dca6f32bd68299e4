import { describe, expect, it } from "vitest";
import { formatted } from "./definition";

const LONG = "x".repeat(80);

describe("the definition", () => {
  it("has on a line what fits on one", () => {
    expect(formatted({})).toBe("{}");
    expect(formatted([])).toBe("[]");
    expect(formatted(undefined)).toBe("null");
    expect(formatted({ a: [1, "two", null], b: { c: true } })).toBe(
      '{ "a": [ 1, "two", null ], "b": { "c": true } }',
    );
  });

  it("breaks what does not fit, and only that", () => {
    expect(formatted({ long: LONG, short: [1, 2] })).toBe(
      `{\n  "long": "${LONG}",\n  "short": [ 1, 2 ]\n}`,
    );
    expect(formatted([[LONG, LONG]])).toBe(`[\n  [\n    "${LONG}",\n    "${LONG}"\n  ]\n]`);
  });

  it("fits up to the last letter", () => {
    const fits = ["x".repeat(82)];
    expect(formatted(fits)).toHaveLength(88);
    expect(formatted(["x".repeat(83)])).toContain("\n");
  });
});
