/** The right part: the report, the selected task with its reasons and sessions, changes, definition. */

import { useMemo } from "preact/hooks";
import type { RunDetail, RunJob, WorkRecord } from "../api/types.gen";
import { known } from "../live/feed";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { Status } from "../parts/status";
import { requestsOf, workedIn } from "../state/figures";
import type { TaskState } from "../state/types";
import { duration, fully, visible } from "../words";
import type { Step } from "./blocks";
import { Definition } from "./definition";
import { Items } from "./items";
import { slowPast } from "./player";
import { Changed, Report } from "./report";
import { Files } from "./report-files";
import { Part } from "./report-part";
import type { RunActs } from "./run-acts";
import { RunTabs } from "./run-tabs";
import { type Choice, NOTHING, type RunTab, tabOf } from "./selection";
import { type Executions, requests, roundOf } from "./states";
import { Tabs } from "./tabs";
import type { Selected } from "./use-moment";
import { Diffs, useReport } from "./use-report";
import { dock, listed, onlyTask, phoneView } from "./view";
import { Why } from "./why";

type Props = Selected & { run: RunDetail; job: RunJob; acts: RunActs; choice: Choice };

export function Side(props: Props) {
  const { run, job, acts, step, execution, choice } = props;
  const asked = tabOf(choice.selection.value);
  const items = listed.value;
  const tab = asked === "items" && items === null ? "report" : asked;
  const isOver = run.ended_at != null;
  const isRead = tab === "report" || tab === "changes";
  const { report, trouble } = useReport(run.id, run.seq, isOver, isRead || isOver);
  const diffs = useMemo(
    () => (report === null ? null : new Diffs(report.id, report.seq)),
    [report?.id, report?.seq],
  );
  const select = (next: RunTab) => choice.select({ tab: next, event: null }, "side");
  // It is about the whole run, whatever moment is looked at: drawn once for all of them.
  const shown = useMemo(
    () =>
      report !== null && (
        <Report
          report={report}
          acts={acts}
          onTask={(work) => choice.select({ ...NOTHING, node: work }, "side")}
          onEvent={(seq) => showEvent(choice, seq)}
          onChanges={() => select("changes")}
        />
      ),
    [report, acts, choice],
  );
  return (
    <section class="side" aria-label={LABELS[tab]}>
      <RunTabs
        {...props}
        tab={tab}
        items={items?.length ?? null}
        count={report?.changes.files.length ?? null}
        onTab={select}
      />
      <div class="tabpanel" id="run-tab" role="tabpanel" aria-labelledby={`run-tab-${tab}`}>
        {isRead && report === null && <Reading trouble={trouble} />}
        {tab === "report" && shown}
        {tab === "changes" && report !== null && diffs !== null && (
          <div class="report">
            <Part title="What changed" aside={<Changed report={report} />}>
              <Files changes={report.changes} diffs={diffs} open={ALL_OPEN} />
            </Part>
          </div>
        )}
        {tab === "items" && items !== null && (
          <Items
            steps={items}
            progress={props.progress}
            isOver={isOver}
            selected={step?.work ?? null}
            onTask={(work) => choice.select({ ...NOTHING, node: work }, "side")}
          />
        )}
        {tab === "definition" && <Definition job={job} />}
        {tab === "task" && step !== null && (
          <>
            <NodeHead {...props} step={step} />
            {execution === null ? (
              <NotYet name={visible(step.name)} isOver={isOver} />
            ) : (
              <Story {...props} key={execution.task_run} />
            )}
          </>
        )}
      </div>
    </section>
  );
}

/** So many changed files are open where all of them are looked at. */
const ALL_OPEN = 20;

const LABELS: Record<RunTab, string> = {
  report: "Report",
  task: "Task sessions",
  changes: "Changes",
  definition: "Definition and chart",
  items: "Items",
};

function Reading({ trouble }: { trouble: string | null }) {
  if (trouble !== null) {
    return (
      <div class="pad">
        <Note kind="err" title="Could not load the report.">
          {visible(trouble)}
        </Note>
      </div>
    );
  }
  return (
    <p class="load pad" aria-busy="true">
      <Icon name="clock" /> Loading the report…
    </p>
  );
}

function showEvent(choice: Choice, seq: number): void {
  dock.value = "events";
  phoneView.value = "events";
  onlyTask.value = true;
  choice.select({ event: { of: "task", seq } }, "side");
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
        <h2 class="mono cut" title={visible(step.name)}>
          {visible(step.name)}
        </h2>
        {execution !== null && !answer && <State state={execution.state} />}
        {execution?.unasked && <span class="st failed">could not be checked</span>}
        {execution !== null && answer && (
          <span class="tf">{execution.state === "succeeded" ? "true" : "false"}</span>
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

/** Nobody is asked in the past: somebody was. */
function State({ state }: Pick<WorkRecord, "state">) {
  if (state !== "waiting-for-person" || slowPast.value === null) {
    return <Status state={STATES[state]} />;
  }
  return (
    <span class="st waiting">
      <Icon name="hand" />
      Waited for you
    </span>
  );
}

function factsOf(execution: WorkRecord, task: TaskState | null): string {
  const round = roundOf(execution.path);
  const parts = [
    round === null ? "" : `round ${round}`,
    task === null ? "" : `attempt ${task.retries + 1}`,
    task === null ? "" : visible(task.model),
    `worked ${duration(workedIn(execution, slowPast.value ?? known.value))}`,
    requests(requestsOf(task?.usage ?? execution.usage)),
    `started ${fully(execution.started_at).slice(-8)}`,
  ].filter((part) => part !== "");
  const said = parts.join(" · ");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

type RoundsProps = { executions: Executions; execution: WorkRecord | null; choice: Choice };

/** The newest at the right; what a retry did again has a place of its own. */
function Rounds({ executions, execution, choice }: RoundsProps) {
  const word = executions.some((one) => roundOf(one.path) !== null) ? "Round" : "Time";
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

function NotYet({ name, isOver }: { name: string; isOver: boolean }) {
  return (
    <div class="empty">
      <h3>{isOver ? `${name} did not run` : `${name} has not started`}</h3>
      <p>
        {isOver
          ? "The report says why."
          : "When it starts, its sessions appear here: Driving first, then each attempt."}
      </p>
    </div>
  );
}

function Story({ run, execution, task, trouble, taskLog: log, choice }: Props) {
  if (trouble !== null) {
    return (
      <div class="sess">
        <Note kind="err" title="Could not load this task.">
          {visible(trouble)}
        </Note>
      </div>
    );
  }
  if (task === null || log === null) {
    return (
      <p class="sess load" aria-busy="true">
        <Icon name="clock" /> Loading the task…
      </p>
    );
  }
  const onEvent = (seq: number) => showEvent(choice, seq);
  const forYou = execution?.state === "waiting-for-person";
  return (
    <>
      <Why task={task} forYou={forYou} log={log} onEvent={onEvent} />
      <Tabs task={task} began={run.created_at} choice={choice} />
    </>
  );
}
