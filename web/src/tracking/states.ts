/** What a run says about each node of its chart. Pure: the time is given. */

import type { RunDetail, WorkRecord } from "../api/types.gen";
import { requestsOf, workedIn } from "../state/figures";
import { duration, visible } from "../words";
import type { Stack, Step } from "./blocks";
import type { Outcome } from "./fold";
import type { Line } from "./shapes";

/** All executions of a work, oldest first: one for each round of a loop, and for each retry. */
export type Executions = readonly WorkRecord[];

export type Progress = ReadonlyMap<number, Executions>;

export function progressOf(run: RunDetail | null): Progress {
  const found = new Map<number, WorkRecord[]>();
  for (const work of run?.works ?? []) {
    const known = found.get(work.work);
    if (known === undefined) found.set(work.work, [work]);
    else known.push(work);
  }
  return found;
}

export type Look =
  | "not started"
  | "not run"
  | "waiting"
  | "running"
  | "waiting for you"
  | "succeeded"
  | "failed"
  | "canceled";

const LOOKS: Record<WorkRecord["state"], Look> = {
  waiting: "waiting",
  running: "running",
  "waiting-for-person": "waiting for you",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

/** What never began in a run that has ended was not run. */
export const lookOf = (execution: WorkRecord | undefined, isOver = false): Look =>
  execution === undefined ? (isOver ? "not run" : "not started") : LOOKS[execution.state];

/** What stands at a node's left border. */
export type Sign = "running" | "clock" | "tick" | "cross" | "true" | "false" | null;

const SIGNS: Record<Look, Sign> = {
  "not started": null,
  "not run": null,
  waiting: "clock",
  running: "running",
  "waiting for you": "running",
  succeeded: "tick",
  failed: "cross",
  canceled: null,
};

export type Shown = {
  look: Look;
  sign: Sign;
  /** One line below the label. */
  sub: string;
  forYou: boolean;
  /** How many times it ran; with more than one, the rounds can be chosen. */
  times: number;
};

/** A condition that said no. */
function isAnswer(step: Step, progress: Progress): boolean {
  const last = progress.get(step.work)?.at(-1);
  return step.asks && last?.state === "failed" && !last.unasked;
}

export function outcomeOf(step: Step, progress: Progress): Outcome {
  const look = lookOf(progress.get(step.work)?.at(-1));
  if (look === "succeeded" || isAnswer(step, progress)) return "succeeded";
  return look === "failed" ? "failed" : "other";
}

export function shownOf(of: Step | Stack, progress: Progress, now: number, isOver = false): Shown {
  return of.kind === "step"
    ? shownStep(of, progress, now, isOver)
    : shownStack(of, progress, isOver);
}

const isInLoop = (path: string) => /\.it\d/.test(path);

/** The rounds of the loops around a work, the outermost first. */
export const roundsOf = (path: string): readonly number[] =>
  [...path.matchAll(/\.it(\d+)/g)].map((found) => Number(found[1]));

/** The round of the innermost loop; null outside of loops. */
export const roundOf = (path: string): number | null => roundsOf(path).at(-1) ?? null;

function shownStep(step: Step, progress: Progress, now: number, isOver: boolean): Shown {
  const executions = progress.get(step.work) ?? [];
  const last = executions.at(-1);
  const look = lookOf(last, isOver);
  return {
    look,
    sign: last === undefined ? null : signOf(step, last),
    sub: last === undefined ? look : subOf(last, now),
    forYou: look === "waiting for you",
    times: executions.length,
  };
}

/** A condition says true or false, and neither is a failure; only what could not be asked is. */
function signOf(step: Step, last: WorkRecord): Sign {
  const sign = SIGNS[LOOKS[last.state]];
  if (!step.asks || last.unasked) return sign;
  return sign === "tick" ? "true" : sign === "cross" ? "false" : sign;
}

const MOST_WORDS = 26;

/** What it waits for, as far as there is room for it. */
function waitOf(reason: string | null | undefined): string {
  const words = `waiting for ${visible((reason ?? "").split(":")[0] ?? "")}`;
  return reason && words.length <= MOST_WORDS ? words : "waiting";
}

function subOf(last: WorkRecord, now: number): string {
  const round = isInLoop(last.path) ? roundOf(last.path) : null;
  const words: string[] = [];
  if (round !== null && round > 1) words.push(`round ${round}`);
  const tried = attemptOf(last);
  if (tried !== null) words.push(tried);
  if (last.state === "waiting") words.push(waitOf(last.waits_for));
  else if (last.state === "canceled") words.push("canceled");
  else if (words.length < 2) words.push(duration(workedIn(last, now)));
  if (last.unasked) words.push("not checked");
  else if (words.length < 2 && requestsOf(last.usage) > 0)
    words.push(requests(requestsOf(last.usage)));
  return words.join(" · ");
}

/** Which attempt is the last one; null where it is the first. */
function attemptOf({ retried_at, retries }: WorkRecord): string | null {
  const done = retried_at.length;
  return done === 0 ? null : `attempt ${done + 1} of ${(retries ?? done) + 1}`;
}

function shownStack(stack: Stack, progress: Progress, isOver: boolean): Shown {
  const counts = talliesOf(stack.steps, progress, false);
  const count = (look: Look) => counts.get(look) ?? 0;
  const begun = stack.steps.length - count("not started");
  const going = count("running") + count("waiting for you");
  const waits = count("waiting");
  const parts = [
    count("succeeded") > 0 ? `${count("succeeded")} done` : "",
    going > 0 ? `${going} running` : "",
    waits > 0 ? `${waits} waiting` : "",
    count("canceled") > 0 ? `${count("canceled")} canceled` : "",
  ].filter((part) => part !== "");
  const failed = count("failed") > 0 ? `${count("failed")} failed` : "";
  const said = parts.join(" · ");
  const none = isOver ? "not run" : "not started";
  const sub = said !== "" && failed !== "" ? `${said}, ${failed}` : said || failed || none;
  const all = count("succeeded") === stack.steps.length;
  const look: Look =
    going > 0
      ? "running"
      : failed
        ? "failed"
        : all
          ? "succeeded"
          : begun && !isOver
            ? "waiting"
            : none;
  const sign: Sign =
    going > 0 ? "running" : failed ? "cross" : all ? "tick" : waits > 0 ? "clock" : null;
  return { look, sign, sub, forYou: count("waiting for you") > 0, times: 0 };
}

/** How many of these are how; a condition that gave an answer has succeeded in that. */
export function talliesOf(
  steps: readonly Step[],
  progress: Progress,
  isOver: boolean,
): ReadonlyMap<Look, number> {
  const counts = new Map<Look, number>();
  for (const step of steps) {
    const look = isAnswer(step, progress)
      ? "succeeded"
      : lookOf(progress.get(step.work)?.at(-1), isOver);
    counts.set(look, (counts.get(look) ?? 0) + 1);
  }
  return counts;
}

/** Whether a way was taken; null as long as nobody knows. */
export function isTaken(line: Line, progress: Progress): boolean | null {
  if (line.label === null || line.decidedBy.length === 0) return null;
  const last = line.decidedBy.map((step) => progress.get(step.work)?.at(-1));
  if (last.some((execution) => execution?.unasked)) return null;
  const looks = last.map((execution) => lookOf(execution));
  const said = looks.includes("failed")
    ? "false"
    : looks.every((look) => look === "succeeded")
      ? "true"
      : null;
  return said === null ? null : said === line.label;
}

export const requests = (count: number) => (count === 1 ? "1 request" : `${count} requests`);
export const tasks = (count: number) => (count === 1 ? "1 task" : `${count} tasks`);

/** How many works of the chart have their last word, of how many. */
export function doneOf(progress: Progress): number {
  let done = 0;
  for (const executions of progress.values()) {
    const look = lookOf(executions.at(-1));
    if (look === "succeeded" || look === "failed") done += 1;
  }
  return done;
}

/** How many tasks wait for one of the places for agents, why, and what to do; null where none. */
export function parkedOf(run: RunDetail): string | null {
  if (run.ended_at != null || run.ending != null) return null;
  const parked = run.running.filter((work) => work.waits_for && !work.for_person);
  const [first] = parked;
  if (first === undefined) return null;
  const some = `${parked.length} of ${tasks(run.running.length)}`;
  const wait = parked.length === 1 ? "is waiting" : "are waiting";
  const why = visible(first.waits_for ?? "");
  const more = why.endsWith("on all machines") ? "max_tasks_all" : "max_tasks";
  return `${some} ${wait} for ${why}. To run more at once, raise ${more} on the Settings page.`;
}

/** What ended a run: a condition that could not be asked, whatever else failed; else the last task
    that failed, or that was cut off. A condition that said no is no culprit, and what was done again
    counts no more. */
export function culpritOf(
  run: RunDetail,
  steps: ReadonlyMap<number, Step>,
): WorkRecord | undefined {
  const latest = [...new Map(run.works.map((work) => [work.path, work])).values()];
  const failed = latest.filter(
    (work) => work.state === "failed" && (work.unasked || !steps.get(work.work)?.asks),
  );
  const cut = run.state === "canceled" ? latest.filter((work) => work.state === "canceled") : [];
  if (run.state === "succeeded") return undefined;
  return failed.findLast((work) => work.unasked) ?? failed.at(-1) ?? cut.at(-1);
}
