/** The rows of the timeline and what lies in them. Pure. */

import type { RunDetail, WorkRecord } from "../api/types.gen";
import type { TaskState } from "../state/types";
import { type Block, nameOf, partsOf, type Stack, type Step } from "./blocks";
import type { Wait } from "./said";
import { lookOf, type Progress, roundOf } from "./states";
import type { Span } from "./timescale";

export type Segment = Span & {
  look: "ok" | "cd" | "bad" | "go" | "q" | "off";
  words: string;
  /** Which execution of the work, from 1. */
  iteration: number | null;
  attempt: number | null;
  forYou: boolean;
};

export type GanttRow = {
  key: string;
  label: string;
  of: Step | Stack;
  segments: readonly Segment[];
};

/** In the order of the chart, from the top to the bottom. */
export function rowsOf(block: Block): readonly (Step | Stack)[] {
  if (block.kind === "step" || block.kind === "stack") return [block];
  if (block.kind === "tiles") return block.steps;
  return partsOf(block).flatMap(rowsOf);
}

type Seen = {
  progress: Progress;
  waits: readonly Wait[];
  now: number;
  /** The task run that is looked at: its attempts are told apart. */
  task: TaskState | null;
};

export function rowOf(of: Step | Stack, seen: Seen): GanttRow {
  const segments = of.kind === "step" ? segmentsOfStep(of, seen) : segmentsOfStack(of, seen);
  return { key: of.key, label: nameOf(of), of, segments };
}

const endOf = (work: WorkRecord, now: number) => work.ended_at ?? now;

function segmentsOfStep(step: Step, seen: Seen): Segment[] {
  const executions = seen.progress.get(step.work) ?? [];
  return executions.flatMap((work, index) => {
    const iteration = index + 1;
    const whole = { from: work.started_at, to: endOf(work, seen.now) };
    const waits = waitsIn(work, whole, seen);
    const tried =
      seen.task?.id === work.task_run
        ? attemptsOf(seen.task, whole, seen.now, iteration)
        : triesOf(work, whole, iteration);
    const forYou = work.state === "waiting-for-person";
    const one: Segment = {
      ...whole,
      look: lookOfWork(work, step),
      words: wordsOf(work, executions.length),
      iteration,
      attempt: null,
      forYou,
    };
    const shown = tried.length > 1 ? tried : [one];
    return [...shown, ...waits.map((wait) => waiting(wait, iteration))];
  });
}

function lookOfWork(work: WorkRecord, step: Step): Segment["look"] {
  switch (lookOf(work)) {
    case "succeeded":
      return step.asks ? "cd" : "ok";
    case "failed":
      return step.asks && !work.unasked ? "cd" : "bad";
    case "canceled":
      return "off";
    default:
      return "go";
  }
}

function wordsOf(work: WorkRecord, times: number): string {
  const look = lookOf(work);
  const round = roundOf(work.path);
  const number = times > 1 && round !== null ? `${round} ` : "";
  if (work.unasked) return `${number}not asked`;
  if (look === "failed") return `${number}failed`;
  if (look === "canceled") return `${number}canceled`;
  return number.trim();
}

function waitsIn(work: WorkRecord, whole: Span, { waits, now }: Seen): Span[] {
  return waits
    .filter((wait) => wait.path === work.path && wait.from >= whole.from && wait.from <= whole.to)
    .map((wait) => ({ from: wait.from, to: Math.min(wait.to ?? now, whole.to) }));
}

const waiting = (span: Span, iteration: number | null): Segment => ({
  ...span,
  look: "q",
  words: "",
  iteration,
  attempt: null,
  forYou: false,
});

/** One for each attempt, as far as the run itself tells them apart. */
function triesOf(work: WorkRecord, whole: Span, iteration: number): Segment[] {
  const begun = [whole.from, ...work.retried_at];
  return begun.map((from, index) => {
    const next = begun[index + 1];
    const failed = next !== undefined || work.state === "failed";
    const isOver = next !== undefined || work.ended_at != null;
    const look = failed ? "bad" : work.state === "canceled" ? "off" : isOver ? "ok" : "go";
    return {
      from,
      to: next ?? whole.to,
      look,
      words: `#${index + 1} ${failed ? "failed" : ""}`.trim(),
      iteration,
      attempt: index + 1,
      forYou: next === undefined && work.state === "waiting-for-person",
    };
  });
}

/** One for each time that the prompt was sent, with the checks behind it. */
function attemptsOf(task: TaskState, whole: Span, now: number, iteration: number): Segment[] {
  const sent = task.attempts.filter((one) => one.mission.kind === "prompt");
  return sent.map((one, index) => {
    const next = sent[index + 1];
    const isLast = next === undefined;
    const failed = !isLast || task.state === "failed" || task.state === "crashed";
    const isOver = !isLast || task.ended_at != null;
    const checked = !isOver && one.ended_at != null;
    const state = isOver ? (failed ? "failed" : "") : checked ? "being checked" : "";
    return {
      from: index === 0 ? whole.from : one.started_at,
      to: next?.started_at ?? whole.to ?? now,
      look: isOver ? (failed ? "bad" : "ok") : "go",
      words: `#${index + 1} ${state}`.trim(),
      iteration,
      attempt: index + 1,
      forYou: false,
    };
  });
}

function segmentsOfStack(stack: Stack, { progress, now }: Seen): Segment[] {
  const works = stack.steps.flatMap((step) => progress.get(step.work) ?? []);
  if (works.length === 0) return [];
  const done = stack.steps.filter((step) => progress.get(step.work)?.at(-1)?.ended_at != null);
  const failed = works.some((work) => work.state === "failed");
  const open = works.some((work) => work.ended_at == null);
  return [
    {
      from: Math.min(...works.map((work) => work.started_at)),
      to: Math.max(...works.map((work) => endOf(work, now))),
      look: open ? "go" : failed ? "bad" : "ok",
      words: `${done.length} of ${stack.steps.length} done`,
      iteration: null,
      attempt: null,
      forYou: works.some((work) => work.state === "waiting-for-person"),
    },
  ];
}

/** When anything of the run was at work. */
export function busyOf(run: RunDetail, now: number): Span[] {
  return run.works.map((work) => ({ from: work.started_at, to: endOf(work, now) }));
}
