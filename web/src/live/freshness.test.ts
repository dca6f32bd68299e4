import { expect, test } from "vitest";
import { freshness, knownUntil, type Line } from "./freshness";

const line: Line = { open: true, caughtUp: true, heardAt: 1_000, brokenAt: null, againAt: null };

test("a line that is open and heard of is live", () => {
  expect(freshness(line, 1_000)).toEqual({ kind: "live" });
  expect(freshness({ ...line, caughtUp: false }, 13_500)).toEqual({ kind: "catching" });
});

test("an open line that says nothing is not believed", () => {
  expect(freshness(line, 14_000)).toEqual({ kind: "reconnecting", seconds: 13 });
});

test("what a server knows that is cut off from the database is as old as its last answer", () => {
  const behind = { ...line, behindAt: 2_000 };
  expect(freshness(behind, 16_000)).toEqual({ kind: "behind", seconds: 14 });
  expect(freshness({ ...behind, open: false }, 62_000)).toEqual({ kind: "behind", seconds: 60 });
  expect(freshness({ ...behind, behindAt: null }, 2_000)).toEqual({ kind: "live" });
});

test("after half a minute the page is stale, whatever it was", () => {
  const broken = { ...line, open: false, brokenAt: 1_000, againAt: 36_000 };
  expect(freshness(broken, 3_000)).toEqual({ kind: "reconnecting", seconds: 2 });
  expect(freshness(broken, 32_000)).toEqual({ kind: "stale", since: 1_000, again: 4 });
});

test("a server that never answered is not reachable, which is not the same as stale", () => {
  const never = { ...line, open: false, heardAt: null };
  expect(freshness(never, 5_000)).toEqual({ kind: "connecting" });
  expect(freshness({ ...never, brokenAt: 1 }, 5_000)).toEqual({ kind: "unreachable", again: null });
});

test("what counts up stands still where the page is stale, and never goes back", () => {
  const broken = { ...line, open: false, brokenAt: 1_000 };
  const counted = [20_000, 31_000, 31_001, 90_000].map((now) => knownUntil(broken, now));
  expect(counted).toEqual([20_000, 31_000, 31_000, 31_000]);
  expect(knownUntil({ ...line, heardAt: null }, 5)).toBe(5);
});
