import { expect, test } from "vitest";
import { lookedAt, neighbour, nextAfter } from "./choice";

const [a, b, c] = [{ id: "a" }, { id: "b" }, { id: "c" }];

test("one looks at the first, until one chooses", () => {
  expect(lookedAt([a, b], null)).toBe(a);
  expect(lookedAt([a, b], b)).toBe(b);
  expect(lookedAt([], null)).toBeNull();
});

test("what somebody else decided does not vanish while one looks at it", () => {
  expect(lookedAt([b], a)).toBe(a);
});

test("one goes to the neighbour, and stops at the ends", () => {
  expect(neighbour([a, b, c], b, 1)).toBe(c);
  expect(neighbour([a, b, c], c, 1)).toBe(c);
  expect(neighbour([a, b, c], a, -1)).toBe(a);
  expect(neighbour([a, b], c, 1)).toBe(a);
});

test("after a decision comes the next one, at the end the one before", () => {
  expect(nextAfter([a, b, c], [a, c], "b")).toBe(c);
  expect(nextAfter([a, b, c], [a, b], "c")).toBe(b);
  expect(nextAfter([a], [], "a")).toBeNull();
  expect(nextAfter([a], [b], "a")).toBe(b);
});
