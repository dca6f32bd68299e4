/** The head of the left part: how the job stands, what matters now, and what can be done. */

import type { ComponentChildren } from "preact";
import type { InboxItem, RunDetail } from "../api/types.gen";
import { fresh, known } from "../live/feed";
import { RunCageBadge } from "../parts/cage-badge";
import { Icon, type IconName } from "../parts/icon";
import { Note } from "../parts/note";
import { useSaving } from "../parts/save";
import { Status } from "../parts/status";
import { costOf, requestsOf, taskRunsOf, workedByRun } from "../state/figures";
import { cost, duration, fully, visible } from "../words";
import { past } from "./player";
import { barredHere, type RunActs } from "./run-acts";
import { RunTitle } from "./run-name";
import { doneOf, type Progress, parkedOf, requests, tasks } from "./states";
import { Strip } from "./strip";

export type Title = "running" | "succeeded" | "failed" | "canceled" | "preview";

const ICONS: Record<Title, IconName> = {
  running: "play",
  succeeded: "tick",
  failed: "cross",
  canceled: "slashed",
  preview: "job",
};

export const titleOf = (run: RunDetail): Title =>
  run.state === "succeeded" || run.state === "failed" || run.state === "canceled"
    ? run.state
    : "running";

export function JobState({ title, children }: { title: Title; children?: ComponentChildren }) {
  return (
    <h1 class={`jobstate ${title}`} aria-live="polite">
      <Icon name={ICONS[title]} />
      JOB: {title.toUpperCase()}
      {children}
    </h1>
  );
}

type Props = {
  run: RunDetail;
  works: number;
  progress: Progress;
  waits: readonly InboxItem[];
  acts: RunActs;
  nameOf: (path: string) => string | null;
  onDecide: (item: InboxItem) => void;
};

/** Three lines, always: how it stands and what can be done, what it is, and counts. */
export function Head({ run, works, progress, waits, acts, nameOf, onDecide }: Props) {
  const title = titleOf(run);
  const isOver = title !== "running";
  const waiting = parkedOf(run);
  const isStopping = acts.busy === "stop" || run.ending != null;
  return (
    <>
      <div class="jobhead">
        <div class="row">
          <JobState title={title}>
            {!isOver && fresh.value.kind === "stale" && <Status state="running" stale />}
            {past.value !== null && (
              <span class="at" aria-hidden="true">
                at {duration(past.value - run.created_at)}
              </span>
            )}
          </JobState>
          <span class="grow" />
          <span class="row acts">
            <More run={run} acts={acts} isOver={isOver} />
            <button
              type="button"
              class="btn sm"
              disabled={acts.busy !== null}
              {...barredHere("operate")}
              onClick={() => void acts.again()}
            >
              <Icon name="turn" />
              Run again
            </button>
            {(title === "failed" || title === "canceled") && (
              <button
                type="button"
                class="btn sm"
                disabled={acts.busy !== null}
                {...barredHere("operate")}
                onClick={() => void acts.retry()}
              >
                <Icon name="play" />
                Retry the failed part
              </button>
            )}
            {!isOver && (
              <button
                type="button"
                class="btn sm danger"
                disabled={isStopping || acts.busy !== null}
                {...barredHere("operate")}
                onClick={() => void acts.stop()}
              >
                {isStopping ? "Stopping…" : "Stop Job"}
              </button>
            )}
          </span>
        </div>
        <RunTitle job={run.job} title={run.short_title} onRename={acts.rename} />
        <div class="row counts">
          <p class="small muted cut num" title={run.id}>
            {progressOf(run, works, progress)}
            {run.machine != null && (
              <>
                {" · on "}
                <a href="/machines.html">{visible(run.machine)}</a>
              </>
            )}
            {` · ${spentOf(run)}`}
          </p>
          <RunCageBadge run={run} />
        </div>
        {waiting !== null && (
          <p class="small parked" role="status">
            <Icon name="clock" size="s" /> {waiting}
          </p>
        )}
      </div>
      {acts.trouble !== null && <Note kind="err" title={visible(acts.trouble)} />}
      <Strip run={run} waits={waits} nameOf={nameOf} onDecide={onDecide} />
    </>
  );
}

const runs = (count: number) => (count === 1 ? "1 task run" : `${count} task runs`);

function progressOf(run: RunDetail, works: number, progress: Progress): string {
  const parts = [
    `${doneOf(progress)} of ${tasks(works)}`,
    runs(taskRunsOf(run)),
    `worked ${duration(workedByRun(run, past.value ?? Math.max(known.value, run.updated_at)))}`,
  ];
  return parts.join(" · ");
}

function spentOf(run: RunDetail): string {
  const end = run.ended_at ?? null;
  const parts = [
    requests(requestsOf(run.usage)),
    cost(costOf(run.usage)),
    ...(run.cage == null ? [] : [`cage ${visible(run.cage)}`]),
    end === null ? run.id : `ended ${fully(end).slice(-8)}`,
  ];
  return parts.join(" · ");
}

type MoreProps = { run: RunDetail; acts: RunActs; isOver: boolean };

function More({ run, acts, isOver }: MoreProps) {
  const { saving, trouble, saveAll } = useSaving();
  const formats = [
    ["markdown", "Markdown"],
    ["jsonl", "JSON Lines"],
    ["html", "HTML"],
  ] as const;
  return (
    <details class="menu-of desk">
      <summary class="btn ghost sm icon">
        <Icon name="more" />
        <span class="vh">More actions: export, delete</span>
      </summary>
      <ul class="floating">
        <li class="small muted pad">Export as</li>
        {formats.map(([format, word]) => (
          <li key={format}>
            <button
              type="button"
              disabled={saving}
              onClick={() => void saveAll([`/api/v1/runs/${run.id}/export?format=${format}`])}
            >
              {word}
            </button>
          </li>
        ))}
        {isOver && (
          <li>
            <button
              type="button"
              disabled={acts.busy !== null}
              {...barredHere("own")}
              onClick={() => void acts.discard()}
            >
              Delete this run…
            </button>
          </li>
        )}
        {trouble !== null && (
          <li class="trouble pad" role="alert">
            {visible(trouble)}
          </li>
        )}
      </ul>
    </details>
  );
}
