import { expect, test } from "vitest";
import { shouldReload } from "./build";

function remembering(): Pick<Storage, "getItem" | "setItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
  };
}

test("a page reloads once for each build that is not its own", () => {
  const visit = { own: "a1", storage: remembering() };
  expect(shouldReload("a1", visit)).toBe(false);
  expect(shouldReload("b2", visit)).toBe(true);
  expect(shouldReload("b2", visit)).toBe(false);
  expect(shouldReload("c3", visit)).toBe(true);
  expect(shouldReload("b2", visit)).toBe(false);
});

test("a page that knows no build of its own stays", () => {
  expect(shouldReload("b2", { own: null, storage: remembering() })).toBe(false);
});

test("where nothing can be remembered nothing is reloaded", () => {
  const storage = {
    getItem: () => null,
    setItem: () => {
      throw new Error("forbidden");
    },
  };
  expect(shouldReload("b2", { own: "a1", storage })).toBe(false);
});
