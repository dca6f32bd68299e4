/** The tracking page: chart, timeline and events of one run, and the selected task's sessions. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { InboxItem, RunDetail, RunJob } from "../api/types.gen";
import { type Keys, useKeys } from "../keys";
import { fresh } from "../live/feed";
import type { Freshness } from "../live/freshness";
import { inbox } from "../live/inbox";
import { watchRun } from "../live/runs";
import { DragBar } from "../parts/dragbar";
import { Frame } from "../parts/frame";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { duration, fully, visible } from "../words";
import type { Chart, Step, Work } from "./blocks";
import { Docked } from "./docked";
import { Drawing, useDrawing } from "./drawing";
import { Head, titleOf } from "./head";
import { StreamLog } from "./log";
import { type Player, slowPast, usePlayer } from "./player";
import { Preview } from "./preview";
import { type RunActs, useRunActs } from "./run-acts";
import { waitsOf } from "./said";
import { type Choice, NOTHING, watchSelection } from "./selection";
import type { Box } from "./shapes";
import { Side } from "./side";
import { culpritOf, progressOf } from "./states";
import { jobOfRun, useJob, useWatched } from "./use";
import { useMoment, useSelected } from "./use-moment";
import { ask, asking, dock, listed, type PhoneView, phoneView, shownParts } from "./view";

/** What the frame shows beyond what the feed says. */
export const badge = signal<Freshness | undefined>(undefined);
export const headline = signal("Job");

export function Page({ jobName, jobId }: { jobName: string; jobId: string | null }) {
  return (
    <Frame page="jobs" title={headline.value} app freshness={badge.value}>
      {jobId === null ? <Preview jobName={jobName} /> : <Tracking run={jobId} />}
    </Frame>
  );
}

function Tracking({ run: id }: { run: string }) {
  const watched = useWatched(id, watchRun);
  const asked = useJob(() => jobOfRun(id)).value;
  const choice = useMemo(watchSelection, []);
  const run = watched?.state.value ?? null;
  const trouble = watched?.trouble.value ?? asked.trouble;
  useTitle(run);
  if (trouble !== null) return <NotThere why={trouble} />;
  if (run === null || asked.job === null) {
    return (
      <p class="gate load" aria-busy="true">
        <Icon name="clock" /> Loading the run…
      </p>
    );
  }
  return <Story run={run} job={asked.job} choice={choice} />;
}

function useTitle(run: RunDetail | null): void {
  const title = run === null ? null : titleOf(run);
  const isKnown = fresh.value.kind === "live" || fresh.value.kind === "catching";
  const isOver = title !== null && title !== "running" && isKnown;
  useEffect(() => {
    badge.value = isOver ? { kind: "complete" } : undefined;
    if (run !== null && title !== null) {
      headline.value = `JOB: ${title.toUpperCase()} · ${visible(run.job)}`;
    }
  }, [title, isOver, run?.job]);
}

function NotThere({ why }: { why: string }) {
  return (
    <div class="gate">
      <h1 class="vh">Run</h1>
      <Note kind="err" title="Could not show this run.">
        <p>{visible(why)}</p>
        <p>
          Find other runs in <a href="/history.html">History</a>.
        </p>
      </Note>
    </div>
  );
}

type StoryProps = { run: RunDetail; job: RunJob; choice: Choice };

function Story({ run: told, job, choice }: StoryProps) {
  const runLog = useMemo(() => new StreamLog(told.id), [told.id]);
  const came = runLog.loaded.value;
  const waits = useMemo(() => waitsOf(runLog.here()), [runLog, came]);
  const player = usePlayer(told, waits);
  const { at } = player;
  const whole = useMemo(() => progressOf(told), [told]);
  const { run, progress } = useMoment(told, whole, at, waits);
  const slow = useMoment(told, whole, slowPast.value, waits);
  const drawn = useDrawing(job, progress, whole, told.ended_at != null);
  const steps = useSteps(job);
  const selected = useSelected(slow, whole, steps, choice, slowPast.value);
  const { step, known, taskLog } = selected;

  const paths = useMemo(() => new Map(told.works.map((work) => [work.path, work.work])), [told]);
  const stepAt = (path: string): Step | null => steps.get(paths.get(path) ?? -1) ?? null;
  const asked = at === null ? inbox().state.value.items.filter((item) => item.run === run.id) : [];

  useOpening(told, steps, choice);
  const decide = (item: InboxItem) => {
    const work = told.works.find((one) => one.task_run === item.task_run);
    if (work === undefined) return;
    asking.value = item.session;
    phoneView.value = "side";
    choice.select({ ...NOTHING, node: work.work }, "side");
  };
  const acts = useRunActs(told, () => asked[0] !== undefined && decide(asked[0]));

  const choose = (box: Box) => {
    if (box.of === null) return;
    if (box.of.kind === "step") {
      choice.toggle(box.of.work, "chart");
      phoneView.value = "side";
      return;
    }
    ask({ open: new Set([...shownParts.value.open, box.of.key]) });
    listed.value = box.of.steps;
    choice.select({ tab: "items" }, "chart");
  };
  useKeys(runKeys(choice, acts));
  const side = useMemo(
    () => <Side {...selected} run={slow.run} job={job} acts={acts} choice={choice} />,
    [selected, slow.run, job, acts, choice],
  );
  return (
    <div class="cols tracking" data-phone={phoneView.value}>
      <PastBar run={told} player={player} />
      <div class="left">
        <Head
          run={run}
          works={steps.size}
          progress={progress}
          waits={asked}
          acts={acts}
          nameOf={(path) => stepAt(path)?.name ?? null}
          onDecide={decide}
        />
        <PhoneTabs />
        <Drawing
          drawn={drawn}
          progress={progress}
          isOver={run.ended_at != null}
          tasks={steps.size}
          selected={choice.selection.value.node}
          reveal={choice.origin.value !== "chart"}
          onChoose={choose}
        />
        <DragBar
          name="tracking.dock"
          label="Height of the timeline"
          way="h"
          property="--dock-h"
          usual={usualDock()}
          min={45}
          leave={220}
        />
        <Docked
          run={told}
          waits={waits}
          player={player}
          block={drawn.folded.block}
          progress={whole}
          task={known}
          step={step}
          runLog={runLog}
          taskLog={taskLog}
          stepAt={stepAt}
          choice={choice}
        />
      </div>
      <DragBar
        name="tracking.side"
        label="Width of the right side"
        way="v"
        property="--side-w"
        usual={800}
        min={320}
      />
      {side}
    </div>
  );
}

/** A capital letter is somebody else's: none of these works with Shift. */
function runKeys(choice: Choice, { compareAddress }: RunActs): Keys {
  const plainly = (does: () => void) => (event: KeyboardEvent) => {
    if (!event.shiftKey) does();
  };
  return {
    r: plainly(() => {
      phoneView.value = "side";
      choice.select({ tab: "report", event: null }, "side");
      requestAnimationFrame(() => document.getElementById("run-tab-report")?.focus());
    }),
    c: plainly(() => location.assign(compareAddress)),
    "/": () => document.querySelector<HTMLElement>(".itemhead input")?.focus(),
  };
}

/** Once, where the address selects nothing: what failed is selected behind the report; of a run that
    goes on, the task at work is shown as soon as there is one. */
function useOpening(run: RunDetail, steps: ReadonlyMap<number, Step>, choice: Choice): void {
  const isDone = useRef(location.hash !== "");
  const origin = choice.origin.value;
  const isOver = run.ended_at != null;
  const work = isOver ? culpritOf(run, steps) : run.running[0];
  useEffect(() => {
    if (isDone.current || (work === undefined && !isOver)) return;
    isDone.current = true;
    if (origin !== "address" || work === undefined) return;
    choice.begin({ ...NOTHING, node: work.work, tab: isOver ? "report" : null });
  }, [work?.work, isOver]);
}

/** Lower windows leave less of it, the lowest only its head. */
const usualDock = () => (innerHeight >= 1_000 ? 300 : innerHeight >= 800 ? 236 : 45);

/** Every task and condition of the job, by its number. */
export function useSteps(job: RunJob): ReadonlyMap<number, Step> {
  return useMemo(() => {
    const chart = job.chart as Chart;
    const asked = conditionsOf(job.work as Work);
    const found = new Map<number, Step>();
    for (const node of chart.nodes) {
      if (typeof node.hint === "string") continue;
      const [shape, work] = node.hint;
      const label = node.label ?? "";
      const asks = asked.has(work) || shape === "CondNode";
      const name = job.names?.[work] ?? label;
      const key = `n${node.id}`;
      found.set(work, { kind: "step", key, shape, work, task: label, label, name, asks });
    }
    return found;
  }, [job]);
}

function conditionsOf(work: Work, asks = false, found = new Set<number>()): Set<number> {
  switch (work.kind) {
    case "Ref":
      if (asks) found.add(work.workIdInJob);
      break;
    case "Seq":
    case "Par":
      for (const part of work.works) conditionsOf(part, asks, found);
      break;
    case "Loop":
      if (work.preCondition) conditionsOf(work.preCondition[1], true, found);
      if (work.postCondition) conditionsOf(work.postCondition[1], true, found);
      conditionsOf(work.body, asks, found);
      break;
    case "Alt":
      conditionsOf(work.condition, true, found);
      if (work.trueWork) conditionsOf(work.trueWork, asks, found);
      if (work.falseWork) conditionsOf(work.falseWork, asks, found);
  }
  return found;
}

/** Where freshness always stands, so that nothing moves while the hand drags. */
function PastBar({ run, player }: { run: RunDetail; player: Player }) {
  const { at } = player;
  useEffect(() => {
    document.documentElement.toggleAttribute("data-past", at !== null);
  }, [at !== null]);
  if (at === null) return null;
  const moment = `${duration(at - run.created_at)} of ${duration(player.now - run.created_at)}`;
  return (
    <div class="pastbar">
      <Icon name="clock" />
      <span>
        {/* not the moment, which moves: the slider tells it */}
        <b role="status">
          <span class="desk">You are viewing the past: </span>
          <span class="on-phone">Past: </span>
        </b>
        <span class="num">{moment}</span>
        <span class="desk num">, at {fully(at).slice(-8)}</span>
      </span>
      <button type="button" class="btn sm primary" onClick={player.leave}>
        {run.ended_at == null ? "Back to live" : "Back to the end"} <kbd>Esc</kbd>
      </button>
    </div>
  );
}

const PHONE_VIEWS: readonly (readonly [PhoneView, string])[] = [
  ["side", "Details"],
  ["chart", "Chart"],
  ["timeline", "Timeline"],
  ["events", "Events"],
];

function PhoneTabs() {
  return (
    <div class="phone-only ctools">
      <div class="seg" role="tablist" aria-label="Details, chart, timeline or events">
        {PHONE_VIEWS.map(([view, word]) => (
          <button
            key={view}
            type="button"
            role="tab"
            aria-selected={phoneView.value === view}
            onClick={() => {
              phoneView.value = view;
              if (view === "timeline" || view === "events") dock.value = view;
            }}
          >
            {word}
          </button>
        ))}
      </div>
    </div>
  );
}
