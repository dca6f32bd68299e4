import { expect, test } from "vitest";
import { piecesOf } from "./remedy";

test("commands stand by themselves", () => {
  expect(piecesOf("Run `airboss setup` to install it.")).toEqual([
    { kind: "words", text: "Run" },
    { kind: "command", text: "airboss setup" },
    { kind: "words", text: "to install it." },
  ]);
});

test("words without a command are words, and a lone sign is nothing", () => {
  expect(piecesOf("Free some space.")).toEqual([{ kind: "words", text: "Free some space." }]);
  expect(piecesOf("`airboss entry`.")).toEqual([{ kind: "command", text: "airboss entry" }]);
  expect(piecesOf("")).toEqual([]);
});
