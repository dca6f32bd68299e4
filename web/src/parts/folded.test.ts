import { expect, test } from "vitest";
import { folded } from "./folded";

test("a short text is shown whole", () => {
  expect(folded("a\nb\nc\n", 3)).toEqual({ shown: "a\nb\nc\n", lines: 0, characters: 0 });
  expect(folded("", 3)).toEqual({ shown: "", lines: 0, characters: 0 });
});

test("a long text shows its first lines, and counts the others", () => {
  expect(folded("a\nb\nc\nd\ne\n", 3)).toMatchObject({ shown: "a\nb\nc", lines: 2 });
});

test("one line of a megabyte is cut as well", () => {
  const { shown, lines, characters } = folded("x".repeat(1_000_000), 12);
  expect([shown.length, lines, characters]).toEqual([20_000, 1, 980_000]);
});
