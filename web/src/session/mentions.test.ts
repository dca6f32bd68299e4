import { expect, test } from "vitest";
import { commandIn, wantedAt, withFile } from "./mentions";

test("a command is wanted at the very beginning only", () => {
  expect(wantedAt("/re", 3)).toEqual({ kind: "command", letters: "re" });
  expect(wantedAt("see /re", 7)).toBeNull();
  expect(wantedAt("/etc/hosts", 10)).toBeNull();
});

test("a file is wanted behind an @ that begins a word", () => {
  expect(wantedAt("look at @src/fo", 15)).toEqual({ kind: "file", letters: "src/fo", from: 8 });
  expect(wantedAt("@", 1)).toEqual({ kind: "file", letters: "", from: 0 });
  expect(wantedAt("me@example.com", 14)).toBeNull();
  expect(wantedAt("@a b", 4)).toBeNull();
});

test("the file takes the place of the letters", () => {
  expect(withFile("look @fo now", 5, 8, "src/follow.py")).toEqual({
    text: "look @src/follow.py now",
    caret: 20,
  });
  expect(withFile("@fo", 0, 3, "a b.md")).toEqual({ text: "@a b.md ", caret: 8 });
});

test("a request is a command where it is nothing else", () => {
  expect(commandIn("/rename A better name ")).toEqual({ name: "rename", rest: "A better name" });
  expect(commandIn("/help")).toEqual({ name: "help", rest: "" });
  expect(commandIn("/etc/hosts is wrong")).toBeNull();
  expect(commandIn("/plan\nand more")).toBeNull();
});
