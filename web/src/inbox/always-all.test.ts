import { expect, test } from "vitest";
import type { AlwaysOption, InboxItem } from "../api/types.gen";
import { alwaysAll, rulesOf, waysOf } from "./always-all";

const way = (id: string, folder: string, until: "session" | null = null): AlwaysOption => ({
  id,
  title: id,
  rule: { verdict: "allow", wish: "shell", command: "npm ci", folder },
  until,
  example: "",
  note: "",
});

const item = (id: string, options: AlwaysOption[]): InboxItem =>
  ({
    id,
    asked: { kind: "approval.asked", choices: ["allow-once", "allow-always", "deny"], options },
  }) as unknown as InboxItem;

const equal = ["a", "b", "c"].map((id) =>
  item(id, [way("exact", "/w"), way("session", "/w", "session")]),
);

/** What is said to each, where the server takes all but those. */
function said(items: readonly InboxItem[], id: string, refused: readonly string[] = []) {
  const always = alwaysAll(id);
  return items.map((one) => {
    const { choice } = always.next(one);
    if (!refused.includes(one.id)) always.done(one);
    return choice;
  });
}

test("a rule for all of them is written once", () => {
  expect(waysOf(equal).map(({ id }) => id)).toEqual(["exact", "session"]);
  expect(rulesOf(equal, "exact")).toHaveLength(1);
  expect(said(equal, "exact")).toEqual(["allow-always", "allow-once", "allow-once"]);
});

test("where somebody was faster with the first, the next one writes it", () => {
  expect(said(equal, "exact", ["a"])).toEqual(["allow-always", "allow-always", "allow-once"]);
});

test("each folder has a rule of its own", () => {
  const apart = [item("a", [way("exact", "/w")]), item("b", [way("exact", "/v")])];
  expect(rulesOf(apart, "exact").map(({ folder }) => folder)).toEqual(["/w", "/v"]);
  expect(said(apart, "exact")).toEqual(["allow-always", "allow-always"]);
});

test("until the session ends is said to each session", () => {
  expect(said(equal, "session")).toEqual(["allow-always", "allow-always", "allow-always"]);
});

test("only what all of them offer is offered", () => {
  expect(waysOf([...equal, item("d", [way("exact", "/w")])]).map(({ id }) => id)).toEqual([
    "exact",
  ]);
  expect(waysOf([...equal, item("e", [])])).toEqual([]);
  expect(waysOf([])).toEqual([]);
});
