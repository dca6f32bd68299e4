/** The lower left part: timeline or events of the same run. */

import { useEffect } from "preact/hooks";
import type { RunDetail } from "../api/types.gen";
import { known } from "../live/feed";
import type { TaskState } from "../state/types";
import { visible } from "../words";
import { Transport } from "./axis";
import type { Block, Step } from "./blocks";
import { Events } from "./events";
import type { GanttRow, Segment } from "./gantt";
import type { StreamLog } from "./log";
import type { Player } from "./player";
import type { Wait } from "./said";
import { type Choice, NOTHING } from "./selection";
import type { Progress } from "./states";
import { Timeline } from "./timeline";
import { ask, type Dock, dock, onlyTask, shownParts } from "./view";

type Props = {
  run: RunDetail;
  block: Block | null;
  progress: Progress;
  task: TaskState | null;
  step: Step | null;
  runLog: StreamLog;
  taskLog: StreamLog | null;
  stepAt: (path: string) => Step | null;
  choice: Choice;
  waits: readonly Wait[];
  player: Player;
};

/** The waits of so many events are shown: more are for the list. */
const FOR_WAITS = 4_000;

export function Docked(props: Props) {
  const { run, runLog } = props;
  runLog.grow(run.seq);
  const isTimeline = dock.value === "timeline";
  useEffect(() => {
    if (isTimeline) void runLog.first(FOR_WAITS);
  }, [isTimeline, runLog, run.seq]);
  return (
    <section class="dock" aria-label="Timeline and events">
      <header>
        <div class="seg desk" role="tablist" aria-label="Timeline or events">
          <DockTab name="timeline" word="Timeline" />
          <DockTab name="events" word="Events" />
        </div>
        <span class="grow" />
        {isTimeline ? <Transport run={run} player={props.player} /> : <EventsHead {...props} />}
      </header>
      {isTimeline ? <Times {...props} /> : <Listed {...props} />}
    </section>
  );
}

function DockTab({ name, word }: { name: Dock; word: string }) {
  return (
    <button
      type="button"
      role="tab"
      aria-selected={dock.value === name}
      onClick={() => {
        dock.value = name;
      }}
    >
      {word}
    </button>
  );
}

function Times({ run, block, progress, task, waits, player, choice }: Props) {
  if (block === null) return null;
  const { selection, origin } = choice;
  const select = (row: GanttRow, segment: Segment | null) => {
    if (row.of.kind === "stack") {
      return ask({ open: new Set([...shownParts.value.open, row.of.key]) });
    }
    const one = segment ?? (row.rounds.length === 0 ? null : (row.segments.at(-1) ?? null));
    if (one === null) return choice.toggle(row.of.work, "timeline");
    const { iteration } = one;
    const isLast = iteration === (progress.get(row.of.work)?.length ?? 0);
    const chosen = {
      ...NOTHING,
      node: row.of.work,
      iteration: isLast ? null : iteration,
    };
    const { node, iteration: shown } = selection.value;
    if (segment === null && node === chosen.node && shown === chosen.iteration) {
      return choice.toggle(node, "timeline");
    }
    return choice.select({ ...chosen, attempt: segment?.attempt ?? null }, "timeline");
  };
  return (
    <Timeline
      run={run}
      block={block}
      progress={progress}
      waits={waits}
      task={task}
      now={known.value}
      selected={selection.value.node}
      iteration={selection.value.iteration}
      reveal={origin.value !== "timeline"}
      player={player}
      onSelect={select}
    />
  );
}

const isOfTask = ({ step, taskLog }: Props) => onlyTask.value && step !== null && taskLog !== null;

function EventsHead(props: Props) {
  const { run, step, task } = props;
  const count = isOfTask(props) ? (task?.seq ?? 0) : run.seq;
  return (
    <>
      {step !== null && (
        <label class="check">
          <input
            type="checkbox"
            checked={onlyTask.value}
            onChange={(event) => {
              onlyTask.value = event.currentTarget.checked;
            }}
          />
          Only {step.name.length > 24 ? "this task" : visible(step.name)}
        </label>
      )}
      <span class="small faint num">
        {count.toLocaleString("en")} {count === 1 ? "event" : "events"}
      </span>
    </>
  );
}

function Listed(props: Props) {
  const { run, task, step, runLog, taskLog, stepAt, choice } = props;
  const { selection, origin } = choice;
  const ofTask = isOfTask(props);
  const log = ofTask && taskLog !== null ? taskLog : runLog;
  const of = ofTask ? "task" : "run";
  const select = (seq: number, path: string | null) => {
    const chosen = path === null ? null : stepAt(path);
    const event = { of, seq } as const;
    if (chosen === null || chosen.work === step?.work) return choice.select({ event }, "events");
    return choice.select({ node: chosen.work, iteration: null, attempt: null, event }, "events");
  };
  return (
    <Events
      key={log.stream}
      log={log}
      of={of}
      count={ofTask ? (task?.seq ?? 0) : run.seq}
      nameOf={(path) => stepAt(path)?.name ?? null}
      isOfNode={(path) => path !== null && step !== null && stepAt(path)?.work === step.work}
      selected={selection.value.event}
      reveal={origin.value !== "events"}
      onSelect={select}
    />
  );
}
