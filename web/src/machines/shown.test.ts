import { expect, it } from "vitest";
import { listed, run, silent, worker } from "../parts/machine-sample";
import {
  about,
  happened,
  heard,
  lookOf,
  progress,
  shown,
  summary,
  takers,
  whyWaiting,
} from "./shown";

const NOW = 1_000_000_000;
const lost = (name: string, ago: number) =>
  worker(name, {
    id: `wrk_${name}_${ago}`,
    state: "lost",
    is_heard: false,
    beat_age_ms: null,
    seen_at: NOW - ago,
    ended_at: NOW - ago + 3_000,
    runs_left: 2,
  });

it("shows this one first, then those that live by name, then those that are gone", () => {
  const list = listed(
    worker("build-10"),
    worker("build-2"),
    worker("portal", { is_here: true }),
    lost("build-1", 5_000),
  );
  expect(shown(list, NOW).map(({ name }) => name)).toEqual([
    "portal",
    "build-2",
    "build-10",
    "build-1",
  ]);
});

it("does not show who came back, who left long ago, or one machine twice", () => {
  const list = listed(
    worker("build-1"),
    lost("build-1", 5_000),
    lost("build-2", 6_000),
    lost("build-2", 7_000),
    lost("build-3", 90_000_000),
  );
  expect(shown(list, NOW).map(({ id }) => id)).toEqual(["wrk_build-1", "wrk_build-2_6000"]);
});

it("sums up who works and what is free", () => {
  const list = listed(
    worker("portal", { has_pages: true, slots: 0 }),
    worker("build-1", { slots_used: 1, runs: [run("a")] }),
    worker("build-2", { slots: 8, slots_used: 3, runs: [run("b"), run("c")], has_pages: true }),
    lost("build-9", 5_000),
  );
  expect(summary(list)).toBe("2 workers, 2 portals · 4 of 12 slots in use · 3 runs");
  expect(summary({ ...list, max_tasks_all: 6, tasks_waiting: 2 })).toBe(
    "2 workers, 2 portals · 4 of 12 slots in use · at most 6 tasks at once on all machines · 2 tasks waiting · 3 runs",
  );
  expect(summary({ ...list, is_shared: false, items: [worker("here")] })).toBe(
    "0 of 4 slots in use · 0 runs",
  );
});

it("never calls a machine failed", () => {
  expect(lookOf(worker("a"))).toEqual({ look: "ok", word: "Alive" });
  expect(lookOf(silent())).toEqual({ look: "stale", word: "Not heard, was Alive" });
  expect(lookOf({ ...silent(), state: "draining" }).word).toBe("Not heard, was Draining");
  expect(lookOf(worker("a", { state: "draining", runs: [run("r")] }))).toEqual({
    look: "waiting",
    word: "Draining, 1 left",
  });
  expect(lookOf(lost("a", 1))).toEqual({ look: "stale", word: "Lost" });
  expect(lookOf(worker("a", { state: "left" }))).toEqual({ look: "canceled", word: "Left" });
});

it("does not claim of a page that is stale that a machine is alive", () => {
  expect(lookOf(worker("a"), true)).toEqual({ look: "stale", word: "Stale, was Alive" });
  expect(lookOf(worker("a", { state: "draining" }), true).word).toBe("Stale, was Draining");
  expect(lookOf(lost("a", 1), true).word).toBe("Lost");
});

it("moves a run only to a machine that takes work", () => {
  const list = listed(
    worker("build-9"),
    worker("build-10"),
    worker("build-2"),
    worker("full", { state: "draining" }),
    worker("pages", { slots: 0 }),
    silent(),
    lost("gone", 1),
  );
  const names = takers(list, { held_by: "build-9" }).map(({ name }) => name);
  expect(names).toEqual(["build-2", "build-10"]);
});

it("counts the age of a beat on, and that of one that ended from when it was last seen", () => {
  expect(heard(worker("a"), 1_500, NOW)).toBe("2 s ago");
  expect(heard(lost("a", 180_000), 1_500, NOW)).toBe("3 min ago");
});

it("says what a machine is for", () => {
  expect(about(worker("a", { labels: ["linux", "gpu"] }))).toBe("a.lan, linux, gpu");
  expect(about(worker("a", { is_here: true, has_pages: true, slots: 0 }))).toBe(
    "a.lan, this page, pages only",
  );
});

it("says what starts again only of one that is not heard", () => {
  expect(progress(run("r"), false)).toBe("1 task done. Working on a.");
  expect(progress(run("r"), true)).toBe("1 task done. The task a starts again.");
  expect(progress(run("r", { working: ["a", "b"], done: 2 }), true)).toBe(
    "2 tasks done. The tasks a, b start again.",
  );
  expect(progress(run("r", { working: [], state: "waiting-for-person" }), true)).toBe(
    "1 task done. Waits for you; holds no slot.",
  );
  expect(progress(run("r", { working: [] }), true)).toBe(
    "1 task done. Between two tasks, so nothing starts again.",
  );
});

it("says whom a run waits for that nobody works on", () => {
  expect(whyWaiting({ ...run("r"), held_by: null })).toBe("Waits for a machine with a free slot.");
  expect(whyWaiting({ ...run("r", { can_move: false }), held_by: "build-9" })).toBe(
    "Its folder /w is only on build-9. It continues when build-9 is back.",
  );
});

it("tells what happened, the newest first", () => {
  const list = listed(
    worker("build-1", { began_at: NOW - 1_000 }),
    lost("build-1", 9_000),
    silent(),
    worker("old", { began_at: NOW - 90_000_000 }),
  );
  expect(happened(list, NOW).map(({ who, what }) => `${who} ${what}`)).toEqual([
    "build-1 started",
    "build-1 was lost with 2 runs",
    "build-7 was last heard",
  ]);
});
