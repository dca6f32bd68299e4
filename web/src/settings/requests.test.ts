import { expect, test } from "vitest";
import { moved, NEW_DRAFT, ruleOf } from "./requests";

test("a rule names what its kind of wish has", () => {
  expect(ruleOf({ ...NEW_DRAFT, pattern: " git * " })).toEqual({
    verdict: "allow",
    wish: "shell",
    command: "git *",
  });
  expect(
    ruleOf({ ...NEW_DRAFT, verdict: "deny", wish: "url", pattern: "*.example.com", folder: "/w" }),
  ).toEqual({ verdict: "deny", wish: "url", host: "*.example.com", folder: "/w" });
  expect(ruleOf({ ...NEW_DRAFT, verdict: "ask" })).toEqual({ verdict: "ask", wish: "shell" });
});

test("a rule moves by one place, and not beyond the ends", () => {
  expect(moved(["a", "b", "c"], "c", -1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b", "c"], "a", 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b"], "a", -1)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], "x", 1)).toEqual(["a", "b"]);
});
