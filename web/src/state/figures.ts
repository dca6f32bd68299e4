/** What a run, a task or a session came to in numbers: the one place that counts them for every page,
 *  as the server does (`worked_until` in `model/runs.py` and `model/task_runs.py`). Pure. */

import type {
  RunningWork,
  RunView,
  SessionView,
  TaskRunView,
  Usage,
  WorkRecord,
} from "../api/types.gen";

/** Calls of models, those of sub-agents included. */
export const requestsOf = (usage: Usage): number => usage.requests + usage.sub_agents.requests;

/** In the unit that is billed. */
export const costOf = (usage: Usage): number => usage.cost + usage.sub_agents.cost;

/** How many came to an end: each round of a loop and each retry is one. */
export const taskRunsOf = (run: Pick<RunView, "works_succeeded" | "works_failed">): number =>
  run.works_succeeded + run.works_failed;

type Going = Pick<RunningWork, "worked_ms" | "working_since">;

const going = ({ worked_ms, working_since }: Going, now: number): number =>
  worked_ms + (working_since == null ? 0 : Math.max(0, now - working_since));

/** What its agents worked, in milliseconds, without the time in which they waited for people or for a
 *  place. Of those beside each other each counts. */
export const workedByRun = (run: Pick<RunView, "usage" | "running">, now: number): number =>
  run.usage.milliseconds + run.running.reduce((sum, work) => sum + going(work, now), 0);

export const workedByTask = (
  task: Pick<TaskRunView, "usage" | "worked_ms" | "working_since">,
  now: number,
): number => going(task, now) || task.usage.milliseconds;

export const workedBySession = ({
  usage,
  spending,
}: Pick<SessionView, "usage" | "spending">): number => usage.milliseconds + spending.milliseconds;

/** One execution of a task of a run. */
export const workedIn = (
  work: Pick<WorkRecord, "usage" | "ended_at" | "worked_ms" | "working_since">,
  now: number,
): number => (work.ended_at == null ? going(work, now) : work.usage.milliseconds);

/** The times of what goes on, once it waits (`waits`) or goes on again. */
export const paused = (before: Going, at: number, waits: boolean): Going => ({
  worked_ms: going(before, at),
  working_since: waits ? null : at,
});

export const ENDED: Going = { worked_ms: 0, working_since: null };
