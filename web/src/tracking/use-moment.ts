/** The run and its selected task at the moment that is looked at. */

import { useEffect, useMemo } from "preact/hooks";
import type { RunDetail, WorkRecord } from "../api/types.gen";
import { watchTaskRun } from "../live/runs";
import type { TaskState } from "../state/types";
import type { Step } from "./blocks";
import { StreamLog } from "./log";
import { lastChange, runAt, taskAt } from "./past";
import type { Wait } from "./said";
import type { Choice } from "./selection";
import { type Executions, type Progress, progressOf } from "./states";
import { useWatched } from "./use";

export type Moment = { run: RunDetail; progress: Progress };

/** The same one until something has changed in the run: between two events nothing is drawn again. */
export function useMoment(
  told: RunDetail,
  whole: Progress,
  at: number | null,
  waits: readonly Wait[],
): Moment {
  const change = useMemo(() => lastChange(told, waits), [told, waits]);
  const since = at === null ? null : change(at);
  return useMemo(() => {
    if (since === null) return { run: told, progress: whole };
    const run = runAt(told, since, waits);
    return { run, progress: progressOf(run) };
  }, [told, whole, since, waits]);
}

export type Selected = {
  progress: Progress;
  step: Step | null;
  executions: Executions;
  /** The one that is looked at: the last, or the one that was chosen. */
  execution: WorkRecord | null;
  /** As it is by now, and as it was at the moment. */
  known: TaskState | null;
  task: TaskState | null;
  trouble: string | null;
  taskLog: StreamLog | null;
};

const NONE: Executions = [];

export function useSelected(
  moment: Moment,
  whole: Progress,
  steps: ReadonlyMap<number, Step>,
  choice: Choice,
  at: number | null,
): Selected {
  const { progress } = moment;
  const { node, iteration } = choice.selection.value;
  const step = node === null ? null : (steps.get(node) ?? null);
  const executions = (step === null ? undefined : progress.get(step.work)) ?? NONE;
  const chosen = iteration === null ? executions.at(-1) : executions[iteration - 1];
  const execution = chosen ?? executions.at(-1) ?? null;
  // Before it began, the first one is kept ready: who drags is there in a moment.
  const first = step === null || at === null ? undefined : whole.get(step.work)?.[0];
  const taskRun = execution?.task_run ?? first?.task_run ?? null;

  const watched = useWatched(taskRun, watchTaskRun);
  const known = watched?.state.value ?? null;
  const trouble = watched?.trouble.value ?? null;
  const task = useMemo(
    () => (known === null || at === null ? known : taskAt(known, at)),
    [known, at],
  );
  const taskLog = useMemo(() => (taskRun === null ? null : new StreamLog(taskRun)), [taskRun]);
  const head = known?.seq ?? 0;
  useEffect(() => {
    taskLog?.grow(head);
    void taskLog?.first(head);
  }, [taskLog, head]);
  return useMemo(
    () => ({ progress, step, executions, execution, known, task, trouble, taskLog }),
    [progress, step, executions, execution, known, task, trouble, taskLog],
  );
}
