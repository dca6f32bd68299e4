/** The right part: the selected task with its reasons and its sessions. */

import type { RunJob, WorkRecord } from "../api/types.gen";
import { now } from "../live/feed";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { Status } from "../parts/status";
import type { TaskState } from "../state/types";
import { duration, fully, visible } from "../words";
import type { Step } from "./blocks";
import { Definition } from "./definition";
import type { StreamLog } from "./log";
import type { Choice } from "./selection";
import { type Executions, requests, roundOf } from "./states";
import { Tabs } from "./tabs";
import { dock, onlyTask, phoneView } from "./view";
import { Why } from "./why";

type Props = {
  job: RunJob;
  step: Step | null;
  executions: Executions;
  /** The one that is looked at: the last, or the one that was chosen. */
  execution: WorkRecord | null;
  task: TaskState | null;
  trouble: string | null;
  log: StreamLog | null;
  choice: Choice;
};

export function Side(props: Props) {
  const { job, step, execution } = props;
  const name = step === null ? "" : visible(step.label);
  return (
    <section
      class="side"
      aria-label={step === null ? "Definition and chart" : `Sessions of ${name}`}
    >
      {step === null ? (
        <Definition job={job} />
      ) : (
        <>
          <NodeHead {...props} step={step} />
          {execution === null ? (
            <NotYet name={name} />
          ) : (
            <Story {...props} key={execution.task_run} />
          )}
        </>
      )}
    </section>
  );
}

const STATES: Record<WorkRecord["state"], string> = {
  waiting: "waiting",
  running: "running",
  "waiting-for-person": "waiting for you",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

function NodeHead({ step, executions, execution, task, choice }: Props & { step: Step }) {
  const isOver = execution?.ended_at != null && execution.state !== "canceled";
  const answer = step.asks && isOver && !execution.unasked;
  return (
    <div class="nodehead">
      <div class="row">
        <h2 class="mono cut" title={visible(step.label)}>
          {visible(step.label)}
        </h2>
        {execution !== null && !answer && <Status state={STATES[execution.state]} />}
        {execution?.unasked && <span class="st failed">could not be asked</span>}
        {execution !== null && answer && (
          <span class={execution.state === "succeeded" ? "st ok" : "st failed"}>
            <Icon name={execution.state === "succeeded" ? "tick" : "cross"} />
            {execution.state === "succeeded" ? "True" : "False"}
          </span>
        )}
        <span class="grow" />
        {executions.length > 1 && (
          <Rounds executions={executions} execution={execution} choice={choice} />
        )}
      </div>
      {execution !== null && <p class="small muted num">{factsOf(execution, task)}</p>}
    </div>
  );
}

function factsOf(execution: WorkRecord, task: TaskState | null): string {
  const round = roundOf(execution.path);
  const parts = [
    round === null ? "" : `Loop iteration ${round}`,
    task === null ? "" : `attempt ${task.retries + 1}`,
    task === null ? "" : visible(task.model),
    duration(
      (execution.ended_at ?? Math.max(now.value, execution.started_at)) - execution.started_at,
    ),
    requests(task?.usage.requests ?? execution.usage.requests),
    `started ${fully(execution.started_at).slice(-8)}`,
  ].filter((part) => part !== "");
  const said = parts.join(" · ");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

type RoundsProps = { executions: Executions; execution: WorkRecord | null; choice: Choice };

/** The newest at the right; what a retry did again has a place of its own. */
function Rounds({ executions, execution, choice }: RoundsProps) {
  const word = executions.some((one) => roundOf(one.path) !== null) ? "Iteration" : "Time";
  const at = executions.findIndex((one) => one.task_run === execution?.task_run);
  const most = 12;
  const first = Math.max(0, Math.min(at - 2, executions.length - most));
  const shown = executions.slice(first, first + most);
  return (
    <fieldset class="seg">
      <legend class="vh">{word}</legend>
      {first > 0 && <span class="faint small">…</span>}
      {shown.map((one, index) => {
        const number = first + index + 1;
        const isLast = number === executions.length;
        return (
          <button
            key={one.task_run}
            type="button"
            aria-pressed={one.task_run === execution?.task_run}
            aria-label={`${word} ${number}, ${one.state}`}
            onClick={() =>
              choice.select(
                { iteration: isLast ? null : number, attempt: null, event: null },
                "side",
              )
            }
          >
            {index === 0 ? `${word} ${number}` : number}
          </button>
        );
      })}
    </fieldset>
  );
}

function NotYet({ name }: { name: string }) {
  return (
    <div class="empty">
      <h3>{name} has not begun.</h3>
      <p>When it begins, its sessions appear here: what drives it, then each attempt.</p>
    </div>
  );
}

function Story({ execution, task, trouble, log, choice }: Props) {
  if (trouble !== null) {
    return (
      <div class="sess">
        <Note kind="err" title="This task cannot be shown.">
          {visible(trouble)}
        </Note>
      </div>
    );
  }
  if (task === null || log === null) {
    return (
      <p class="sess load" aria-busy="true">
        <Icon name="clock" /> Reading what the task did …
      </p>
    );
  }
  const onEvent = (seq: number) => {
    dock.value = "events";
    phoneView.value = "events";
    onlyTask.value = true;
    choice.select({ event: { of: "task", seq } }, "side");
  };
  const forYou = execution?.state === "waiting-for-person";
  return (
    <>
      <Why task={task} forYou={forYou} log={log} onEvent={onEvent} />
      <Tabs task={task} choice={choice} />
    </>
  );
}
