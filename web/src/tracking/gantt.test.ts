import { describe, expect, it } from "vitest";
import type { WorkRecord } from "../api/types.gen";
import { NO_USAGE } from "../state/usage";
import type { Block, Step } from "./blocks";
import { placesOf, rowOf } from "./gantt";
import type { Progress } from "./states";

const step = (work: number, name: string): Step => ({
  kind: "step",
  key: `n${work}`,
  shape: "TaskNode",
  work,
  task: name,
  label: name,
  name,
  asks: false,
});

const ran = (work: number, path: string, from: number): WorkRecord => ({
  work,
  path,
  task: `task-${work}`,
  task_run: `tsk_${work}_${from}`,
  state: "succeeded",
  started_at: from,
  ended_at: from + 5,
  waits_for: null,
  retried_at: [],
  retries: null,
  unasked: false,
  usage: NO_USAGE,
  conclusion: "",
  worked_ms: 5,
});

const loop = (body: Block, after: Block): Block =>
  ({
    kind: "loop",
    key: "l",
    begin: { key: "b", kind: "LoopEnd" },
    end: { key: "e", kind: "LoopEnd" },
    before: null,
    body,
    after,
  }) as unknown as Block;

const labels = (block: Block, progress: Progress) =>
  placesOf(block, progress).map(
    (place) => rowOf(place, { progress, waits: [], now: 100, task: null }).label,
  );

describe("the rows of a timeline", () => {
  const block: Block = {
    kind: "seq",
    parts: [step(0, "design"), loop(step(1, "fix"), step(2, "pass")), step(3, "review")],
  };

  it("are one for each round of a loop, round by round", () => {
    const progress: Progress = new Map([
      [0, [ran(0, "0", 0)]],
      [1, [ran(1, "1.it1.0", 10), ran(1, "1.it2.0", 30)]],
      [2, [ran(2, "1.it1.post", 20), ran(2, "1.it2.post", 40)]],
    ]);
    expect(labels(block, progress)).toEqual([
      "design",
      "fix · round 1",
      "pass · round 1",
      "fix · round 2",
      "pass · round 2",
      "review",
    ]);
    const [, , , second] = placesOf(block, progress);
    const row = second && rowOf(second, { progress, waits: [], now: 100, task: null });
    expect(row?.segments.map((one) => [one.from, one.iteration])).toEqual([[30, 2]]);
  });

  it("are as in the chart where a loop had one round, or none", () => {
    const once: Progress = new Map([[1, [ran(1, "1.it1.0", 10)]]]);
    expect(labels(block, once)).toEqual(["design", "fix", "pass", "review"]);
    // Done again by a retry: the same round, in the same row.
    const again: Progress = new Map([[1, [ran(1, "1.it1.0", 10), ran(1, "1.it1.0", 50)]]]);
    expect(labels(block, again)).toEqual(["design", "fix", "pass", "review"]);
  });

  it("tell the rounds of a loop in a loop apart", () => {
    const nested = loop(loop(step(1, "fix"), step(2, "pass")), step(3, "review"));
    const progress: Progress = new Map([
      [1, [ran(1, "it1.it1", 0), ran(1, "it1.it2", 1), ran(1, "it2.it1", 2)].map(dotted)],
      [3, [ran(3, "it1.post", 3), ran(3, "it2.post", 4)].map(dotted)],
    ]);
    expect(labels(nested, progress)).toEqual([
      "fix · round 1.1",
      "pass",
      "fix · round 1.2",
      "review · round 1",
      "fix · round 2.1",
      "review · round 2",
    ]);
  });
});

const dotted = (work: WorkRecord): WorkRecord => ({ ...work, path: `0.${work.path}` });
