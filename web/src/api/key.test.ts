import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forgetKeys, keepKey, ownKey } from "./key";

function storage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}

beforeEach(() => vi.stubGlobal("localStorage", storage()));

afterEach(() => {
  forgetKeys();
  vi.unstubAllGlobals();
});

test("a page without a key sends none", () => {
  expect(ownKey()).toEqual({});
});

test("the newest key comes first, none twice, and four at most", () => {
  for (const key of ["a", "b", "a", "c", "d", "e"]) keepKey(key);
  expect(ownKey()).toEqual({ "X-Airboss-Key": "e,d,c,a" });
  expect(localStorage.getItem("airboss.keys")).toBe("e,d,c,a");
});

test("a key that another tab forgot is forgotten", () => {
  keepKey("a");
  forgetKeys();
  expect(ownKey()).toEqual({});
});

test("where storage is forbidden the key lasts as long as the page", () => {
  const no = () => {
    throw new Error("forbidden");
  };
  vi.stubGlobal("localStorage", { getItem: no, setItem: no, removeItem: no });
  keepKey("a");
  expect(ownKey()).toEqual({ "X-Airboss-Key": "a" });
});
