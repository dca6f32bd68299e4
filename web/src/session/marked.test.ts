import { expect, test } from "vitest";
import { linesBetween } from "./marked";

test("marked lines are whole, and both ends count", () => {
  const text = "one\ntwo\nthree\nfour\n";
  expect(linesBetween(text, { firstLine: 2, lastLine: 3 })).toBe("two\nthree");
  expect(linesBetween(text, { firstLine: 4, lastLine: 4 })).toBe("four");
});
