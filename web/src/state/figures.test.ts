import { expect, test } from "vitest";
import {
  costOf,
  ENDED,
  paused,
  requestsOf,
  workedByRun,
  workedBySession,
  workedByTask,
  workedIn,
} from "./figures";
import { NO_USAGE } from "./usage";

const spent = (requests: number, cost: number) => ({ ...NO_USAGE.sub_agents, requests, cost });
const usage = { ...NO_USAGE, requests: 2, cost: 1, sub_agents: spent(3, 0.5), milliseconds: 700 };

test("what sub-agents used is part of it", () => {
  expect([requestsOf(usage), costOf(usage)]).toEqual([5, 1.5]);
});

test("a pause counts for nothing, and what goes on counts until now", () => {
  const begun = { worked_ms: 0, working_since: 1_000 };
  const waits = paused(begun, 1_300, true);
  expect(waits).toEqual({ worked_ms: 300, working_since: null });
  const work = { usage: NO_USAGE, ended_at: null };
  expect(workedIn({ ...work, ...waits }, 9_000)).toBe(300);
  const again = paused(waits, 9_000, false);
  expect(workedIn({ ...work, ...again }, 9_100)).toBe(400);
  expect(workedIn({ usage, ended_at: 9_200, ...ENDED }, 99_000)).toBe(700);
});

test("a run worked as long as its tasks did, those at work included", () => {
  const running = [{ worked_ms: 5, working_since: 10 }] as never;
  expect(workedByRun({ usage, running }, 30)).toBe(725);
  expect(workedByTask({ usage, ...ENDED }, 30)).toBe(700);
  expect(workedByTask({ usage: NO_USAGE, worked_ms: 5, working_since: 10 }, 30)).toBe(25);
  expect(workedBySession({ usage, spending: usage })).toBe(1_400);
});
