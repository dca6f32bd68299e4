import { expect, test } from "vitest";
import { meaningOf, type Press } from "./keys";

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key,
  ctrl: false,
  alt: false,
  inField: false,
  ...more,
});

test("no letter works while somebody writes", () => {
  for (const key of ["a", "d", "j", "k", "g", "?", "1"]) {
    expect(meaningOf(press(key, { inField: true }), false)).toEqual({ kind: "nothing" });
  }
  expect(meaningOf(press("j", { inField: true }), true)).toEqual({ kind: "nothing" });
});

test("Ctrl+K and Esc work everywhere", () => {
  expect(meaningOf(press("k", { ctrl: true, inField: true }), false)).toEqual({ kind: "palette" });
  expect(meaningOf(press("Escape", { inField: true }), false)).toEqual({ kind: "leave" });
});

test("G and a letter go to a page, and the letter alone is the page's own", () => {
  expect(meaningOf(press("g"), false)).toEqual({ kind: "go" });
  expect(meaningOf(press("j"), true)).toEqual({ kind: "page", key: "j" });
  expect(meaningOf(press("J"), false)).toEqual({ kind: "key", key: "j" });
});

test("keys of the browser stay the browser's", () => {
  expect(meaningOf(press("a", { ctrl: true }), false)).toEqual({ kind: "nothing" });
  expect(meaningOf(press("d", { alt: true }), false)).toEqual({ kind: "nothing" });
});
