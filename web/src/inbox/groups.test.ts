import { expect, test } from "vitest";
import type { InboxItem } from "../api/types.gen";

import { countInWords, groupsOf, sectionsOf } from "./groups";
import { request } from "./sample";

const question = (id: string, asked_at: number): InboxItem => ({
  id,
  session: `s-${id}`,
  asked_at,
  asked: {
    kind: "question.asked",
    item: id,
    question: "Which?",
    choices: [],
    freeform: true,
  } as unknown as InboxItem["asked"],
});

const ids = (items: readonly InboxItem[]) =>
  groupsOf(items).map((group) => group.items.map(({ id }) => id));

test("equal requests are one group, the oldest first", () => {
  expect(
    ids([request("a", 3, "npm ci"), request("b", 2, "ls"), request("c", 1, "npm ci")]),
  ).toEqual([["c", "a"], ["b"]]);
});

test("what differs in kind, command or risk is not equal", () => {
  const items = [
    request("a", 1, "npm ci"),
    request("b", 2, "npm ci", { severity: "low" }),
    request("c", 3, "npm ci", { wish: "custom-tool" }),
    request("d", 4, "npm ci "),
  ];
  expect(groupsOf(items)).toHaveLength(4);
});

test("two that name no command are equal only with the same arguments", () => {
  const bare = (id: string, all: string) => request(id, 1, "", { subject: { arguments: all } });
  expect(ids([bare("a", "{}"), bare("b", "{}"), bare("c", "[]")])).toEqual([["a", "b"], ["c"]]);
});

test("the highest risk comes first, then the oldest; questions stand last, each for itself", () => {
  const items = [
    question("q", 0),
    question("p", 1),
    request("low", 2, "ls", { severity: "low" }),
    request("young", 9, "make"),
    request("old", 5, "npm ci"),
    request("high", 8, "git push -f", { severity: "high" }),
  ];
  expect(ids(items)).toEqual([["high"], ["old"], ["young"], ["low"], ["q"], ["p"]]);
  expect(sectionsOf(groupsOf(items)).map(({ risk, count }) => [risk, count])).toEqual([
    ["high", 1],
    ["medium", 2],
    ["low", 1],
    ["none", 2],
  ]);
});

test("the count names groups only where something is grouped", () => {
  expect([countInWords(0, 0), countInWords(1, 1), countInWords(3, 3), countInWords(3, 1)]).toEqual([
    "",
    "1 waiting for you",
    "3 waiting for you",
    "3 waiting for you, in 1 group",
  ]);
});
