/** The rows of the timeline and what lies in them. Pure. */

import type { RunDetail, WorkRecord } from "../api/types.gen";
import type { TaskState } from "../state/types";
import { type Block, nameOf, partsOf, type Stack, type Step, tilesIn } from "./blocks";
import type { Wait } from "./said";
import { lookOf, type Progress, roundsOf } from "./states";
import type { Span } from "./timescale";

export type Segment = Span & {
  look: "ok" | "cd" | "bad" | "go" | "q" | "off";
  words: string;
  /** Which execution of the work, from 1. */
  iteration: number | null;
  attempt: number | null;
  forYou: boolean;
};

/** A node in the timeline; one that ran in several rounds of a loop has a place for each. */
export type Place = {
  key: string;
  of: Step | Stack;
  /** Those of the loops around it, the outermost first; empty where there is one place alone. */
  rounds: readonly number[];
};

export type GanttRow = Place & { label: string; segments: readonly Segment[] };

/** In the order of the chart, from the top to the bottom; a loop round by round. */
export function placesOf(block: Block, progress: Progress, depth = 0): readonly Place[] {
  if (block.kind === "step") return placesOfStep(block, progress);
  if (block.kind === "stack") return [onePlace(block)];
  if (block.kind === "tiles") {
    return tilesIn(block).flatMap((one) => placesOf(one, progress, depth));
  }
  const isLoop = block.kind === "loop";
  const inside = partsOf(block).flatMap((part) =>
    placesOf(part, progress, isLoop ? depth + 1 : depth),
  );
  // What ran in one round alone, or never, stands with the first.
  const round = ({ rounds }: Place) => rounds[depth] ?? 1;
  return isLoop ? inside.toSorted((one, two) => round(one) - round(two)) : inside;
}

const onePlace = (of: Step | Stack): Place => ({ key: of.key, of, rounds: [] });

function placesOfStep(step: Step, progress: Progress): Place[] {
  const rounds = new Map<string, readonly number[]>();
  for (const work of progress.get(step.work) ?? []) {
    const all = roundsOf(work.path);
    rounds.set(all.join("."), all);
  }
  if (rounds.size < 2) return [onePlace(step)];
  return [...rounds].map(([key, all]) => ({ key: `${step.key} ${key}`, of: step, rounds: all }));
}

type Seen = {
  progress: Progress;
  waits: readonly Wait[];
  now: number;
  /** The task run that is looked at: its attempts are told apart. */
  task: TaskState | null;
};

export function rowOf(place: Place, seen: Seen): GanttRow {
  const { of, rounds } = place;
  const segments =
    of.kind === "step" ? segmentsOfStep(of, rounds, seen) : segmentsOfStack(of, seen);
  const round = rounds.length === 0 ? "" : ` · round ${rounds.join(".")}`;
  return { ...place, label: `${nameOf(of)}${round}`, segments };
}

const endOf = (work: WorkRecord, now: number) => work.ended_at ?? now;

function segmentsOfStep(step: Step, rounds: readonly number[], seen: Seen): Segment[] {
  const executions = seen.progress.get(step.work) ?? [];
  const wanted = rounds.join(".");
  return executions.flatMap((work, index) => {
    if (rounds.length > 0 && roundsOf(work.path).join(".") !== wanted) return [];
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
      words: wordsOf(work),
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

function wordsOf(work: WorkRecord): string {
  const look = lookOf(work);
  if (work.unasked) return "not checked";
  return look === "failed" || look === "canceled" ? look : "";
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
    const state = isOver ? (failed ? "failed" : "") : checked ? "checking" : "";
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
