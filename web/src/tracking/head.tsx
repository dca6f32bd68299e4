/** The head of the left part: how the job stands, what matters now, and what can be done. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type Answer, post, whyNot } from "../api/client";
import { barred } from "../api/role";
import type { InboxItem, RunDetail, RunView } from "../api/types.gen";
import { fresh, now } from "../live/feed";
import { confirmed } from "../parts/dialog";
import { Icon, type IconName } from "../parts/icon";
import { Note } from "../parts/note";
import { useSaving } from "../parts/save";
import { Status } from "../parts/status";
import { duration, fully, visible } from "../words";
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
  nameOf: (path: string) => string | null;
  onDecide: (item: InboxItem) => void;
};

export function Head({ run, works, progress, waits, nameOf, onDecide }: Props) {
  const busy = useSignal<string | null>(null);
  const trouble = useSignal<string | null>(null);
  const title = titleOf(run);
  const isOver = title !== "running";

  async function act(verb: string, path: string): Promise<RunView | null> {
    busy.value = verb;
    trouble.value = null;
    const answer: Answer<RunView> = await post<RunView>(`/api/v1/runs/${run.id}/${path}`);
    busy.value = null;
    if (answer.kind === "ok") return answer.body;
    trouble.value = whyNot(answer);
    return null;
  }

  async function stop(): Promise<void> {
    if (run.running.length > 0 && !(await confirmed(stopping(run)))) return;
    await act("stop", "stop");
  }

  async function again(): Promise<void> {
    const started = await act("again", "again");
    if (started === null) return;
    const asked = new URLSearchParams({ jobName: started.job, jobId: started.id });
    location.assign(`/jobTracking.html?${asked}`);
  }

  const waiting = parkedOf(run);
  const isStopping = busy.value === "stop" || run.ending != null;
  return (
    <>
      <div class="jobhead">
        <div class="row">
          <JobState title={title}>
            {!isOver && fresh.value.kind === "stale" && <Status state="running" stale />}
          </JobState>
          <span class="grow" />
          <span class="row acts">
            <Exports run={run} />
            <button
              type="button"
              class="btn sm"
              disabled={busy.value !== null}
              {...barred("operate")}
              onClick={() => void again()}
            >
              <Icon name="turn" />
              Run again
            </button>
            {(title === "failed" || title === "canceled") && (
              <button
                type="button"
                class="btn sm primary"
                disabled={busy.value !== null}
                {...barred("operate")}
                onClick={() => void act("retry", "retry")}
              >
                <Icon name="play" />
                Retry the failed part
              </button>
            )}
            <button
              type="button"
              class="btn danger"
              disabled={isOver || isStopping}
              title={isOver ? "The job has ended." : undefined}
              {...barred("operate")}
              onClick={() => void stop()}
            >
              {isStopping ? "Stopping …" : "Stop Job"}
            </button>
          </span>
        </div>
        <p class="small muted cut num" title={run.id}>
          {subOf(run, works, progress)}
        </p>
        {waiting !== null && (
          <p class="small parked" role="status">
            <Icon name="clock" size="s" /> {waiting}
          </p>
        )}
      </div>
      {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
      <Strip run={run} waits={waits} nameOf={nameOf} onDecide={onDecide} />
    </>
  );
}

const stopping = (run: RunDetail) => ({
  title: "Stop this job?",
  body: `${tasks(run.running.length)} at work: ${run.running
    .slice(0, 4)
    .map((work) => visible(work.task))
    .join(
      ", ",
    )}${run.running.length > 4 ? " …" : ""}. Their agents end now. What has succeeded is kept, and the failed part can be retried.`,
  action: "Stop Job",
  keep: "Let it run",
});

function subOf(run: RunDetail, works: number, progress: Progress): string {
  const end = run.ended_at ?? null;
  const parts = [
    visible(run.job),
    `${doneOf(progress)} of ${tasks(works)}`,
    duration((end ?? Math.max(now.value, run.updated_at)) - run.created_at),
    requests(run.usage.requests),
    end === null ? run.id : `ended ${fully(end).slice(-8)}`,
  ];
  return parts.join(" · ");
}

function Exports({ run }: { run: RunDetail }) {
  const { saving, trouble, saveAll } = useSaving();
  const formats = [
    ["markdown", "Markdown"],
    ["jsonl", "JSON lines"],
    ["html", "One HTML file"],
  ] as const;
  return (
    <details class="menu-of desk">
      <summary class="btn ghost sm">
        <Icon name="download" />
        Export
      </summary>
      <ul class="floating">
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
        {trouble !== null && (
          <li class="trouble pad" role="alert">
            {visible(trouble)}
          </li>
        )}
      </ul>
    </details>
  );
}
