import { expect, test } from "vitest";
import { behind, canRetry, lastPart, merged, type Read, type Row, refreshed } from "./rows";

const row = (id: string, at: number, state = "closed"): Row => ({
  id,
  source: "sessions",
  href: "",
  name: id,
  state,
  kind: "Session",
  folder: "",
  model: "",
  at,
  ended: null,
  cost: "",
});
const read = (cursor: string | null, ...rows: Row[]): Read => ({ rows, cursor });
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);

test("two lists are one, newest first", () => {
  expect(ids(merged([read(null, row("a", 9), row("c", 5)), read(null, row("b", 7))]))).toEqual([
    "a",
    "b",
    "c",
  ]);
});

test("what lies deeper than the other list was read is kept back", () => {
  const runs = read("next", row("r9", 9), row("r8", 8));
  const sessions = read(null, row("s7", 7), row("s8", 8.5));
  expect(ids(merged([runs, sessions]))).toEqual(["r9", "s8", "r8"]);
  expect(behind([runs, sessions])).toBe(runs);
  expect(behind([read(null), read(null)])).toBeNull();
});

test("of two lists the one that is less far back is read on", () => {
  const near = read("n", row("a", 8));
  expect(behind([read("f", row("b", 3)), near])).toBe(near);
});

test("rows keep their place and learn how they stand; new ones are only counted", () => {
  const old = [row("a", 5, "working"), row("b", 4)];
  const { rows, more } = refreshed(old, [row("new", 6), row("a", 5, "closed"), row("b", 4)]);
  expect(rows.map(({ id, state }) => [id, state])).toEqual([
    ["a", "closed"],
    ["b", "closed"],
  ]);
  expect(more).toBe(1);
});

test("a folder is told by its last part", () => {
  expect([lastPart("/home/me/shop/"), lastPart("C:\\work\\shop"), lastPart("/")]).toEqual([
    "shop",
    "shop",
    "/",
  ]);
});

test("runs and tasks that failed or were stopped can be retried", () => {
  const run = (state: string): Row => ({ ...row("r", 1, state), source: "runs" });
  expect(["failed", "canceled", "succeeded", "running"].map(run).map(canRetry)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(canRetry(row("s", 1, "failed"))).toBe(false);
});
