import { expect, test } from "vitest";
import type { InboxItem, InboxSettled, Rule } from "../api/types.gen";
import type { Recorded } from "../state/types";

import { request } from "./sample";
import { suggestionOf } from "./suggest";

const NOW = new Date(2026, 4, 5, 12).getTime();
const rule: Rule = { verdict: "allow", wish: "shell", command: "pytest", folder: "/work" };

const said = (event: unknown, at: number) => ({ event, at, seq: 1 }) as unknown as Recorded;

const allowed = (
  id: string,
  outcome: InboxSettled["outcome"] = "allow-once",
  at = NOW,
): Recorded[] => [
  said({ kind: "inbox.arrived", item: request(id, 1, "pytest", { rule }) }, at),
  said({ kind: "inbox.settled", item: id, session: "s", outcome }, at),
];

const times = (count: number) =>
  Array.from({ length: count }, (_, place) => allowed(`i${place}`)).flat();

const waits: InboxItem[] = [
  request("w1", 1, "pytest", { rule: { ...rule, path: null } }),
  request("w2", 1, "ls", { rule: { ...rule, command: "ls" } }),
];

test("the fifth yes to the same kind suggests the rule and says what it decides now", () => {
  expect(suggestionOf(times(4), waits, NOW)).toBeNull();
  const found = suggestionOf(times(5), waits, NOW);
  expect(found).toMatchObject({ rule, allowed: 5 });
  expect(found?.now.map(({ id }) => id)).toEqual(["w1"]);
});

test("a no, another day and a refused suggestion do not count", () => {
  const day = 24 * 60 * 60_000;
  expect(suggestionOf([...times(4), ...allowed("x", "deny")], waits, NOW)).toBeNull();
  expect(suggestionOf([...allowed("x", "allow-once", NOW - day), ...times(4)], [], NOW)).toBeNull();
  const id = suggestionOf(times(5), [], NOW)?.id ?? "";
  expect(suggestionOf(times(6), [], NOW, new Set([id]))).toBeNull();
});

test("of what was allowed with other words each time, the wider rule is suggested", () => {
  const wide: Rule = { ...rule, command: "pytest *" };
  const events = Array.from({ length: 5 }, (_, place) => {
    const narrow: Rule = { ...rule, command: `pytest ${place}` };
    const options = [
      { id: "exact", title: "Exactly this", rule: narrow, example: "", note: "" },
      { id: "program", title: "This program", rule: wide, example: "", note: "" },
      { id: "session", title: "Here", rule, until: "session" as const, example: "", note: "" },
    ];
    const item = request(`i${place}`, 1, `pytest ${place}`, { rule: narrow, options });
    const outcome = { kind: "inbox.settled", item: item.id, outcome: "allow-once" };
    return [said({ kind: "inbox.arrived", item }, NOW), said(outcome, NOW)];
  }).flat();
  expect(suggestionOf(events, [], NOW)).toMatchObject({ rule: wide, allowed: 5 });
});
