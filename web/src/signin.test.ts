import { afterEach, expect, test, vi } from "vitest";
import { codeIn, takeCode } from "./signin";

afterEach(() => vi.unstubAllGlobals());

test("the code stands in the fragment", () => {
  expect(codeIn("#code=abc-123_x")).toBe("abc-123_x");
  expect(codeIn("#a=1&code=abc")).toBe("abc");
  expect(codeIn("#code=a%2Bb")).toBe("a+b");
});

test("no code is no code", () => {
  expect(["", "#", "#content", "#code=", "#decode=x"].map(codeIn)).toEqual(Array(5).fill(null));
});

test("taking the code cleans the address, and leaves other fragments alone", () => {
  const replaceState = vi.fn();
  vi.stubGlobal("history", { replaceState });
  vi.stubGlobal("location", { hash: "#code=abc", pathname: "/index.html", search: "?project=x" });
  expect(takeCode()).toBe("abc");
  expect(replaceState).toHaveBeenCalledExactlyOnceWith(null, "", "/index.html?project=x");

  vi.stubGlobal("location", { hash: "#content", pathname: "/", search: "" });
  expect(takeCode()).toBeNull();
  expect(replaceState).toHaveBeenCalledOnce();
});
