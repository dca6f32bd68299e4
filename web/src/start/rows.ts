/** Runs, tasks and sessions as rows of one list: what goes on, and what was. Pure. */

import type { RunView, SessionView, TaskRunView } from "../api/types.gen";
import { CAGE_WORDS, cageLook } from "../parts/cage-words";
import { waitOfSession } from "../parts/waits";
import { costOf, taskRunsOf, workedByRun, workedBySession, workedByTask } from "../state/figures";
import { cost, visible } from "../words";

export type Row = {
  id: string;
  /** Null where there is no page to show yet. */
  href: string | null;
  name: string;
  state: string;
  /** Kind, how far it came or what it waits for, and last the folder: a narrow row cuts the end. */
  about: string;
  /** When it began, while it goes on; else when it was last heard of. */
  at: number;
  milliseconds: number;
  cost: string;
  goesOn: boolean;
  /** Somebody wants to find it at the top. */
  pinned?: boolean;
};

const RECENT = 8;

export function rowOfRun(run: RunView, now: number): Row {
  const goesOn = run.ended_at == null;
  return {
    id: run.id,
    href: runAddress(run.job, run.id),
    name: visible(runName(run)),
    state: run.state === "running" && run.restarts > 0 ? "resumed" : run.state,
    about: ["Job", progress(run), visible(run.cwd)].join(" · "),
    at: run.ended_at ?? run.created_at,
    milliseconds: workedByRun(run, now),
    cost: cost(costOf(run.usage)),
    goesOn,
  };
}

function progress(run: RunView): string {
  const done = taskRuns(taskRunsOf(run));
  if (run.state === "succeeded") return done;
  if (run.ended_at != null) return visible(run.reason ?? done);
  const waits = run.waits_for ?? run.running.find((work) => work.waits_for != null)?.waits_for;
  if (run.state !== "running" && waits != null) return visible(`Waiting for ${waits}`);
  const kept = run.restarts > 0 ? `resumed after a restart, ${done} done` : `${done} done`;
  return run.running.length > 0 ? `${kept}, ${run.running.length} running` : kept;
}

const taskRuns = (count: number) => (count === 1 ? "1 task run" : `${count} task runs`);

/** Where a run is watched; without an id it is a preview. */
/** By its job, and by the title that tells it from the others of that job. */
export const runName = (run: Pick<RunView, "title" | "job" | "short_title">): string => {
  const job = run.title || run.job;
  return run.short_title === "" ? job : `${job}: ${run.short_title}`;
};

export function runAddress(job: string, id: string | null): string {
  const query = new URLSearchParams({ jobName: job, ...(id === null ? {} : { jobId: id }) });
  return `/jobTracking.html?${query}`;
}

/** One that somebody started by itself. */
export function rowOfTask(task: TaskRunView, now: number): Row {
  const goesOn = task.ended_at == null;
  const waits = task.waits_for == null ? [] : [visible(`Waiting for ${task.waits_for}`)];
  return {
    id: task.id,
    href: taskAddress(task),
    name: visible(task.task),
    state: stateOfTask(task),
    about: ["Task", ...waits, visible(task.cwd)].join(" · "),
    at: task.ended_at ?? task.created_at,
    milliseconds: workedByTask(task, now),
    cost: cost(costOf(task.usage)),
    goesOn,
  };
}

/** In the words that runs have. */
export function stateOfTask(task: TaskRunView): string {
  if (task.state === "crashed") return "failed";
  if (task.state !== "running" || task.waits_for == null) return task.state;
  return task.for_person ? "waiting-for-person" : "waiting";
}

/** A task is shown by the session that it works in, or worked in last. */
export function taskAddress(task: TaskRunView): string | null {
  const session = task.session ?? task.sessions.at(-1) ?? task.opened.at(-1);
  return session == null ? null : `/index.html?${new URLSearchParams({ session })}`;
}

export function rowOfSession(session: SessionView, names: ReadonlyMap<string, string>): Row {
  const asks = session.items.length > 0 && session.state !== "closed";
  const isBehind = session.waiting_calls.length > 0;
  const goesOn = asks || session.state === "working" || session.state === "opening";
  const model = names.get(session.model) ?? session.model;
  return {
    id: session.id,
    href: `/index.html?${new URLSearchParams({ session: session.id })}`,
    name: visible(session.title) || "Untitled",
    state: asks ? "asking" : isBehind ? "waiting-for-another-session" : session.state,
    about: [
      sessionWord(session),
      waitOfSession(session) ?? visible(model),
      visible(session.cwd),
    ].join(" · "),
    at: goesOn ? session.created_at : session.updated_at,
    milliseconds: workedBySession(session),
    cost: cost(costOf(session.usage) + costOf(session.spending)),
    goesOn,
    pinned: session.pinned,
  };
}

/** Of most nobody needs to know that they have no cage. */
function sessionWord(session: SessionView): string {
  const look = cageLook(session);
  return look === "free" ? "Session" : `Session, ${CAGE_WORDS[look]}`;
}

/** What waits for a person comes first, then what is pinned, then the newest. A row that came twice is
 *  shown once. */
export function listed(rows: readonly Row[]): { running: Row[]; recent: Row[] } {
  const all = [...new Map(rows.map((row) => [row.id, row])).values()];
  const newest = all.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const running = pinnedFirst(newest.filter((row) => row.goesOn));
  return {
    running: [...running.filter(asks), ...running.filter((row) => !asks(row))],
    recent: pinnedFirst(newest.filter((row) => !row.goesOn)).slice(0, RECENT),
  };
}

const pinnedFirst = (rows: readonly Row[]): Row[] => [
  ...rows.filter(({ pinned }) => pinned),
  ...rows.filter(({ pinned }) => !pinned),
];

const asks = (row: Row) => row.state === "asking" || row.state === "waiting-for-person";
