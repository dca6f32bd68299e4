import { expect, test } from "vitest";
import { found, score } from "./commands";

const labels = (letters: string, ...items: string[]) =>
  found(
    letters,
    items.map((label) => ({ label })),
  ).map(({ label }) => label);

test("what begins with the letters comes first, then words that begin with them", () => {
  expect(labels("stop", "Do not stop", "Nonstop", "Stop Server")).toEqual([
    "Stop Server",
    "Do not stop",
    "Nonstop",
  ]);
});

test("letters are found in their order, best at the beginnings of words", () => {
  expect(labels("fft", "a friend of fruit", "Fix failing tests")).toEqual([
    "Fix failing tests",
    "a friend of fruit",
  ]);
  expect(labels("xyz", "Fix failing tests")).toEqual([]);
});

test("nothing written keeps everything in its order", () => {
  expect(labels("", "b", "a")).toEqual(["b", "a"]);
});

test("what stands beside the name is searched too, and counts less", () => {
  const items = [{ label: "Session", about: "harbor" }, { label: "harbor tour" }];
  expect(found("harbor", items).map(({ label }) => label)).toEqual(["harbor tour", "Session"]);
});

test("letters are not signs of an expression", () => {
  expect(score("(.*", "a (.* b")).toBe(800);
  expect(score("[", "none")).toBeNull();
});
