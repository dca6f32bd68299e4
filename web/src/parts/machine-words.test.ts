import { expect, it } from "vitest";
import type { RunMove } from "../api/types.gen";
import { listed, run, silent, worker } from "./machine-sample";
import {
  clockOffset,
  fateOfRun,
  fateOfRuns,
  isOff,
  isSilent,
  silence,
  startsAgain,
  takenOver,
} from "./machine-words";

it("says for how long a machine is not heard, counted on from the answer", () => {
  expect(silence(silent(), 0)).toBe("build-7 not heard for 14 s;");
  expect(silence(silent(), 2_400)).toBe("build-7 not heard for 16 s;");
});

it("says in about how long the runs go on elsewhere", () => {
  const one = silent(run("a"), run("b"), run("c"));
  const list = listed(worker("build-2"), one);
  expect(fateOfRuns(list, one, 0)).toBe("its 3 runs go on elsewhere in about 8 s");
  expect(fateOfRuns(list, one, 5_000)).toBe("its 3 runs go on elsewhere in about 3 s");
  expect(fateOfRuns(list, one, 60_000)).toBe("its 3 runs go on elsewhere in a moment");
  expect(fateOfRun(list, one, "a", 0)).toBe("this run goes on elsewhere in about 8 s");
});

it("promises nothing where nobody else could go on with them", () => {
  const one = silent(run("a"), run("b"));
  const busy = worker("portal", { slots: 0 });
  expect(fateOfRuns(listed(one, busy), one, 0)).toBe("its 2 runs wait until it is back");
  expect(fateOfRun(listed(one, busy), one, "a", 0)).toBe("this run waits until it is back");
  const lost = worker("build-1", { state: "lost", is_heard: false, beat_age_ms: null });
  expect(fateOfRuns(listed(one, lost), one, 0)).toBe("its 2 runs wait until it is back");
});

it("tells runs in folders of their own machine apart", () => {
  const one = silent(run("a"), run("b", { can_move: false }));
  const list = listed(worker("build-2"), one);
  expect(fateOfRuns(list, one, 0)).toBe(
    "its 1 run goes on elsewhere in about 8 s, and 1 waits until it is back",
  );
  expect(fateOfRun(list, one, "b", 0)).toBe("this run waits until it is back");
  expect(fateOfRuns(list, silent(), 0)).toBe("it has no runs");
});

it("knows who is silent: one that lives, as far as anybody knows", () => {
  expect(isSilent(silent())).toBe(true);
  expect(isSilent(worker("build-2"))).toBe(false);
  expect(isSilent(worker("build-1", { state: "lost", is_heard: false }))).toBe(false);
});

const move = (more: Partial<RunMove> = {}): RunMove => ({
  at: new Date(2026, 0, 2, 14, 21, 42).getTime(),
  before: "build-7",
  to: "build-2",
  reason: "build-7 was lost.",
  again: ["build-web"],
  done: 14,
  ...more,
});

it("says who took a run over, and what starts again", () => {
  expect(takenOver(move())).toBe("Taken over by build-2 at 14:21:42.");
  expect(takenOver(move({ before: "build-2" }))).toBe(
    "build-2 is back and has continued since 14:21:42.",
  );
  expect(startsAgain(move(), false)).toBe(
    "The task build-web starts again in a new session; 14 finished tasks stay finished.",
  );
  expect(startsAgain(move({ again: ["a", "b"], done: 0 }), false)).toBe(
    "2 tasks start again in new sessions.",
  );
  expect(startsAgain(move({ again: [], done: 1 }), false)).toBe(
    "Nothing starts again; 1 finished task stays finished.",
  );
  expect(startsAgain(move({ done: 1 }), true)).toBe(
    "The task build-web started again in a new session; 1 finished task stayed finished.",
  );
});

it("shows what hides itself in a name", () => {
  expect(takenOver(move({ to: "b\u202e" }))).toContain("⟨");
});

it("says how far a clock is off", () => {
  expect([0, 12, -4, 1_400, -65_000].map(clockOffset)).toEqual([
    "0 ms",
    "+12 ms",
    "−4 ms",
    "+1.4 s",
    "−65.0 s",
  ]);
  expect([999, -1_000].map(isOff)).toEqual([false, true]);
});
