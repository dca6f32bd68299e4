import { describe, expect, it } from "vitest";
import type { RunDetail, WorkRecord } from "../api/types.gen";
import { workedIn } from "../state/figures";
import type { SessionState } from "../state/types";
import { NO_USAGE } from "../state/usage";
import { lastChange, momentsOf, runAt, sessionAt, stepFrom } from "./past";
import { scaleOf, timeAt } from "./timescale";

const work = (number: number, from: number, to: number | null): WorkRecord => ({
  work: number,
  path: `0.${number}`,
  task: `task-${number}`,
  task_run: `tsk_${number}`,
  state: to === null ? "running" : "succeeded",
  started_at: from,
  ended_at: to,
  waits_for: null,
  retried_at: [],
  retries: null,
  unasked: false,
  usage: { ...NO_USAGE, requests: 2, milliseconds: 5 },
  conclusion: "Done.",
  worked_ms: 0,
  working_since: null,
});

const run = (...works: WorkRecord[]) =>
  ({
    id: "run_1",
    state: "succeeded",
    created_at: 0,
    updated_at: 100,
    ended_at: 100,
    running: [],
    usage: NO_USAGE,
    works,
  }) as unknown as RunDetail;

describe("a run in the past", () => {
  const whole = run(work(0, 10, 30), work(1, 30, 80));

  it("has what was begun then, and nothing that came later", () => {
    const then = runAt(whole, 40, []);
    expect(then.works.map((one) => [one.state, one.ended_at])).toEqual([
      ["succeeded", 30],
      ["running", null],
    ]);
    expect(then).toMatchObject({ state: "running", ended_at: null, works_succeeded: 1 });
    expect([then.usage.requests, then.usage.milliseconds]).toEqual([2, 5]);
    expect(runAt(whole, 5, []).works).toEqual([]);
    expect(runAt(whole, 100, [])).toMatchObject({ state: "succeeded", ended_at: 100 });
  });

  it("waits where it waited then", () => {
    const waits = [{ path: "0.1", from: 35, to: 60, forPerson: true, reason: "a person" }];
    expect(runAt(whole, 50, waits).state).toBe("waiting-for-person");
    expect(runAt(whole, 70, waits).state).toBe("running");
  });

  it("has worked until then, without the time in which it waited", () => {
    const waits = [{ path: "0.1", from: 35, to: 60, forPerson: true, reason: "a person" }];
    const worked = [32, 50, 70].map((at) => {
      const last = runAt(whole, at, waits).works[1];
      return last && workedIn(last, at);
    });
    expect(worked).toEqual([2, 5, 15]);
  });

  it("is the same between two changes", () => {
    const waits = [{ path: "0.1", from: 35, to: 60, forPerson: true, reason: "a person" }];
    const change = lastChange(whole, waits);
    expect([0, 9, 10, 34, 59, 60, 99].map(change)).toEqual([0, 0, 10, 30, 35, 60, 80]);
    for (const at of [12, 50, 99]) {
      expect(runAt(whole, at, waits).works).toEqual(runAt(whole, change(at), waits).works);
    }
  });

  it("is stepped through from event to event", () => {
    const moments = momentsOf(whole);
    expect(moments).toEqual([0, 10, 30, 80, 100]);
    expect(stepFrom(moments, 10, 1)).toBe(30);
    expect(stepFrom(moments, 30, -1)).toBe(10);
    expect(stepFrom(moments, 100, 1)).toBeNull();
  });
});

it("shows of a text that was coming in then a part, and of later ones nothing", () => {
  const block = (id: string, at: number, ended_at: number) => ({
    id,
    seq: at,
    at,
    kind: "message" as const,
    title: null,
    text: "0123456789",
    received: 10,
    receiving: false,
    cut: false,
    left_out: null,
    ended_at,
    who: null,
    images: null,
  });
  const session = {
    view: null,
    blocks: new Map([
      ["a", block("a", 0, 10)],
      ["b", block("b", 20, 40)],
      ["c", block("c", 50, 60)],
    ]),
    order: ["a", "b", "c"],
    renamed: new Map(),
    head: 60,
    context: null,
  } as SessionState;
  const then = sessionAt(session, 30);
  expect(then.order).toEqual(["a", "b"]);
  expect(then.blocks.get("b")).toMatchObject({ text: "01234", receiving: true, ended_at: null });
  expect(then.blocks.get("a")).toMatchObject({ text: "0123456789", receiving: false });
  const dragged = sessionAt(session, 55, 2);
  expect(dragged.order).toEqual(["b", "c"]);
  expect([...dragged.blocks.keys()]).toEqual(["b", "c"]);
});

it("finds the moment at a place of the axis", () => {
  const whole = { from: 1_000, to: 601_000 };
  const scale = scaleOf([{ from: 1_000, to: 601_000 }], whole, 100, 500);
  for (const at of [1_000, 90_000, 600_000]) {
    expect(Math.abs(timeAt(scale, whole, scale.x(at)) - at)).toBeLessThan(5);
  }
});
