import { describe, expect, it } from "vitest";
import type { RunDetail, WorkRecord } from "../api/types.gen";
import type { Stack, Step } from "./blocks";
import { doneOf, isTaken, outcomeOf, parkedOf, progressOf, shownOf } from "./states";

const NOTHING_USED = {
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost: 0,
  sub_agents: { requests: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0 },
  turns: 0,
  milliseconds: 0,
};

function told(
  work: number,
  state: WorkRecord["state"],
  more: Partial<WorkRecord> = {},
): WorkRecord {
  const ended = state === "succeeded" || state === "failed" || state === "canceled";
  return {
    work,
    path: `0.${work}`,
    task: `task-${work}`,
    task_run: `task_${work}`,
    state,
    started_at: 1_000,
    conclusion: "",
    ended_at: ended ? 73_000 : null,
    retried_at: [],
    unasked: false,
    usage: ended ? { ...NOTHING_USED, milliseconds: 72_000 } : NOTHING_USED,
    worked_ms: 0,
    working_since: state === "running" ? 1_000 : null,
    ...more,
  };
}

const run = (...works: WorkRecord[]) => progressOf({ works } as unknown as RunDetail);

const step = (work: number, more: Partial<Step> = {}): Step => ({
  kind: "step",
  key: `n${work}`,
  shape: "TaskNode",
  work,
  task: "build",
  label: "build",
  name: "build",
  asks: false,
  ...more,
});

describe("a node", () => {
  it("has a triangle while it runs, then a tick or a cross", () => {
    expect(shownOf(step(1), run(), 0)).toMatchObject({ look: "not started", sub: "not started" });
    expect(shownOf(step(1), run(), 0, true)).toMatchObject({ look: "not run", sub: "not run" });
    expect(shownOf(step(1), run(told(1, "running")), 62_000)).toMatchObject({
      sign: "running",
      sub: "1:01",
    });
    const used = { ...NOTHING_USED, requests: 1, milliseconds: 72_000 };
    expect(shownOf(step(1), run(told(1, "succeeded", { usage: used })), 0)).toMatchObject({
      sign: "tick",
      sub: "1:12 · 1 request",
    });
    expect(shownOf(step(1), run(told(1, "failed")), 0).sign).toBe("cross");
  });

  it("says which attempt it is in, behind the first", () => {
    const twice = { retried_at: [9_000], retries: 2 };
    const progress = run(told(1, "running", twice));
    expect(shownOf(step(1), progress, 62_000).sub).toBe("attempt 2 of 3 · 1:01");
    const inLoop = run(told(1, "succeeded", { ...twice, path: "0.it2.1" }));
    expect(shownOf(step(1), inLoop, 62_000).sub).toBe("round 2 · attempt 2 of 3");
  });

  it("in a loop starts over, and says which round it is in", () => {
    const rounds = run(
      told(1, "failed", { path: "0.it1.0" }),
      told(1, "running", { path: "0.it2.0" }),
    );
    expect(shownOf(step(1), rounds, 1_000)).toMatchObject({
      sign: "running",
      sub: "round 2 · 0:00",
      times: 2,
    });
  });

  it("that is a condition wears true or false, and a cross only where it could not be checked", () => {
    const asks = step(1, { shape: "CondNode", asks: true });
    expect(shownOf(asks, run(told(1, "succeeded")), 0)).toMatchObject({
      sign: "true",
      sub: "1:12",
    });
    expect(shownOf(asks, run(told(1, "failed")), 0).sign).toBe("false");
    expect(shownOf(asks, run(told(1, "failed", { unasked: true })), 0).sign).toBe("cross");
    expect(outcomeOf(asks, run(told(1, "failed")))).toBe("succeeded");
    expect(outcomeOf(step(1), run(told(1, "failed")))).toBe("failed");
  });

  it("that waits for a person has a hand, and keeps its mark", () => {
    expect(shownOf(step(1), run(told(1, "waiting-for-person")), 0)).toMatchObject({
      forYou: true,
      sign: "running",
    });
  });

  it("that waits has a clock and no triangle, and says what for", () => {
    const waits = { waits_for: "a free place: 2 of 2 agents of jobs are at work" };
    expect(shownOf(step(1), run(told(1, "waiting", waits)), 0)).toMatchObject({
      sign: "clock",
      sub: "waiting for a free place",
    });
  });

  it("that stands for many counts them", () => {
    const steps = Array.from({ length: 18 }, (_, work) => step(work));
    const stack: Stack = {
      kind: "stack",
      key: "s0",
      shape: "TaskNode",
      label: "build × 18",
      steps,
      count: 18,
    };
    const works = steps.map(({ work }) =>
      told(work, work < 11 ? "succeeded" : work < 17 ? "running" : "failed"),
    );
    expect(shownOf(stack, run(...works), 0)).toMatchObject({
      sub: "11 done · 6 running, 1 failed",
      sign: "running",
    });
    expect(shownOf(stack, run(), 0)).toMatchObject({ sub: "not started", sign: null });
  });
});

it("says which way was taken as soon as the condition is known", () => {
  const line = {
    from: "n1",
    to: "n2",
    points: [],
    loopBack: false,
    at: null,
    skips: 0,
    decidedBy: [step(1), step(2)],
  };
  const taken = (label: "true" | "false", ...works: WorkRecord[]) =>
    isTaken({ ...line, label }, run(...works));
  expect(taken("true", told(1, "succeeded"))).toBeNull();
  expect(taken("true", told(1, "succeeded"), told(2, "succeeded"))).toBe(true);
  expect(taken("true", told(1, "failed"))).toBe(false);
  expect(taken("false", told(1, "failed"))).toBe(true);
  expect(taken("false", told(1, "failed", { unasked: true }))).toBeNull();
});

it("takes a condition that could not be checked for a failure, and for no answer", () => {
  const asks = step(1, { asks: true });
  const answered = run(told(1, "failed"));
  expect(shownOf(asks, answered, 0).sign).toBe("false");
  expect(outcomeOf(asks, answered)).toBe("succeeded");
  const unasked = run(told(1, "failed", { unasked: true }));
  expect(shownOf(asks, unasked, 0).sub).toBe("1:12 · not checked");
  expect(outcomeOf(asks, unasked)).toBe("failed");
});

it("counts the works that have their last word", () => {
  expect(doneOf(run(told(1, "succeeded"), told(2, "failed"), told(3, "running")))).toBe(2);
});

it("says of a run how many of its tasks wait for a place, and how to have more", () => {
  const place = "a free place: 2 of 2 agents of jobs are at work";
  const work = (waits_for: string | null, for_person = false) => ({ waits_for, for_person });
  const waits = (...running: ReturnType<typeof work>[]) =>
    parkedOf({ running, ended_at: null, ending: null } as unknown as RunDetail);
  expect(waits()).toBeNull();
  expect(waits(work(null), work("a person", true))).toBeNull();
  const all = "a free place: 2 of 2 agents of jobs are at work on all machines";
  expect(waits(work(all))).toBe(
    `1 of 1 task is waiting for ${all}. To run more at once, raise max_tasks_all on the Settings page.`,
  );
  expect(waits(work(null), work(place), work(place))).toBe(
    `2 of 3 tasks are waiting for ${place}. To run more at once, raise max_tasks on the Settings page.`,
  );
});
