/** Runs, tasks and sessions as rows of one list, newest first, from lists that are read page by page. Pure. */

import type { Hit, RunView, SessionView, Snippet, TaskRunView } from "../api/types.gen";
import { waitOfRun, waitOfSession, waitOfTask } from "../parts/waits";
import { runAddress, runName, stateOfTask, taskAddress } from "../start/rows";
import {
  costOf,
  requestsOf,
  taskRunsOf,
  workedByRun,
  workedBySession,
  workedByTask,
} from "../state/figures";
import { visible } from "../words";
import type { Source } from "./filters";

export type Row = {
  /** A run, task or session may be there several times: by itself, and for what was found in it. */
  key: string;
  id: string;
  source: Source;
  /** Null where there is no page to show yet. */
  href: string | null;
  name: string;
  state: string;
  kind: string;
  folder: string;
  model: string;
  at: number;
  /** Milliseconds, without pauses, at a moment: what goes on works on. */
  worked: (now: number) => number;
  requests: number;
  /** In premium requests. */
  cost: number;
  /** Of a run: the beginning of its input, and its tags. */
  input?: string;
  tags?: readonly string[];
  /** What it waits for. */
  waits?: string;
  /** What was found in it, and who said that. */
  found?: { says: string; snippet: Snippet };
};

const said = (waits: string | null) => (waits === null ? {} : { waits });

export function rowOfRun(run: RunView): Row {
  const done = taskRunsOf(run);
  return {
    key: run.id,
    id: run.id,
    source: "runs",
    href: runAddress(run.job, run.id),
    name: visible(runName(run)),
    state: run.state === "running" && run.restarts > 0 ? "resumed" : run.state,
    kind: `Job · ${done === 1 ? "1 task run" : `${done} task runs`}`,
    folder: visible(run.cwd),
    model: "",
    at: run.created_at,
    worked: (now) => workedByRun(run, now),
    requests: requestsOf(run.usage),
    cost: costOf(run.usage),
    input: visible(run.input_start),
    tags: run.tags,
    ...said(waitOfRun(run)),
  };
}

/** One that somebody started by itself. */
export function rowOfTask(task: TaskRunView): Row {
  return {
    key: task.id,
    id: task.id,
    source: "task-runs",
    href: taskAddress(task),
    name: visible(task.task),
    state: stateOfTask(task),
    kind: "Task",
    folder: visible(task.cwd),
    model: visible(task.model),
    at: task.created_at,
    worked: (now) => workedByTask(task, now),
    requests: requestsOf(task.usage),
    cost: costOf(task.usage),
    ...said(waitOfTask(task)),
  };
}

export function rowOfSession(session: SessionView): Row {
  const asks = session.items.length > 0 && session.state !== "closed";
  const isBehind = session.waiting_calls.length > 0;
  return {
    key: session.id,
    id: session.id,
    source: "sessions",
    href: `/index.html?${new URLSearchParams({ session: session.id })}`,
    name: visible(session.title) || "Untitled",
    state: asks ? "asking" : isBehind ? "waiting-for-another-session" : session.state,
    kind: "Session",
    folder: visible(session.cwd),
    model: visible(session.model),
    at: session.created_at,
    worked: () => workedBySession(session),
    requests: requestsOf(session.usage) + requestsOf(session.spending),
    cost: costOf(session.usage) + costOf(session.spending),
    ...said(waitOfSession(session)),
  };
}

const SAYS: Record<string, string> = {
  "prompt.accepted": "Prompt",
  "prompt.changed": "Prompt",
  "message.ended": "Message",
  "reasoning.ended": "Reasoning",
  "tool.started": "Tool arguments",
  "tool.ended": "Tool output",
  "aside.answered": "Side question",
  "question.asked": "Question",
  "session.error": "Error",
  "task.decided": "Decision",
  "task.checked": "Check",
  "task.accepted": "Task input",
  "run.accepted": "Job input",
};

/** What was found, as a row of what it was found in; null where that is in no list. */
export function rowOfHit(hit: Hit): Row | null {
  const { run, task_run, session } = hit.owner;
  const owner = run
    ? rowOfRun(run)
    : task_run
      ? rowOfTask(task_run)
      : session
        ? rowOfSession(session)
        : null;
  if (owner === null) return null;
  const says = SAYS[hit.kind] ?? visible(hit.kind);
  const { input: _input, tags: _tags, waits: _waits, ...rest } = owner;
  return {
    ...rest,
    key: `${hit.stream} ${hit.seq}`,
    href: placeOf(hit) ?? owner.href,
    at: hit.at,
    found: { says, snippet: hit.snippet },
  };
}

/** The transcript at this event: of a session, of a task in its run, of a run. */
function placeOf({ session, of, seq, owner, work, execution }: Hit): string | null {
  if (session != null) return `/index.html?${new URLSearchParams({ session })}#seq=${seq}`;
  if (owner.run == null) return null;
  const run = runAddress(owner.run.job, owner.run.id);
  if (of === "run") return `${run}#event=run-${seq}`;
  return work == null ? run : `${run}#node=${work}&iteration=${execution}&event=task-${seq}`;
}

/** So many places of one run, task or session are shown; more on demand. */
const PLACES = 3;

export type Folded = {
  row: Row;
  /** How many more places in the same are hidden behind this one. */
  more: number;
};

/** Something that says a word a hundred times is not the whole list. */
export function folded(rows: readonly Row[], unfolded: ReadonlySet<string>): Folded[] {
  const shown = new Map<string, Folded[]>();
  const list: Folded[] = [];
  for (const row of rows) {
    const places = shown.get(row.id) ?? [];
    const last = places.at(-1);
    if (row.found !== undefined && last && places.length >= PLACES && !unfolded.has(row.id)) {
      last.more += 1;
      continue;
    }
    const one = { row, more: 0 };
    list.push(one);
    if (row.found !== undefined) shown.set(row.id, [...places, one]);
  }
  return list;
}

/** A run is gone on with; of a task a new one is made. */
export const canRetry = ({ source, state }: Row): boolean =>
  source !== "sessions" && (state === "failed" || state === "canceled");

export const lastPart = (path: string): string =>
  path.split(/[\\/]/).findLast((part) => part !== "") ?? path;

/** Each run, task and session once, whatever was found in it. */
export const things = (rows: readonly Row[]): Row[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

/** One of the lists, as far as it was read. */
export type Read = { rows: readonly Row[]; cursor: string | null };

const byAge = (a: Row, b: Row): number => b.at - a.at || (a.key < b.key ? 1 : -1);

/** All rows of which it is known that nothing comes between them. What lies deeper in one list than the
 * other was read is kept back: it would move when the other goes on. */
export function merged(lists: readonly Read[]): Row[] {
  const edge = Math.max(
    ...lists.filter(({ cursor }) => cursor !== null).map(({ rows }) => rows.at(-1)?.at ?? 0),
    Number.NEGATIVE_INFINITY,
  );
  return lists
    .flatMap(({ rows }) => rows)
    .filter(({ at }) => at >= edge)
    .sort(byAge);
}

/** The list whose next page is needed: the one that was read least far back. */
export function behind<List extends Read>(lists: readonly List[]): List | null {
  const open = lists.filter(({ cursor }) => cursor !== null);
  return open.toSorted((a, b) => (b.rows.at(-1)?.at ?? 0) - (a.rows.at(-1)?.at ?? 0)).at(0) ?? null;
}

/** What is shown keeps its place and learns how it stands; what is new is counted. */
export function refreshed(
  old: readonly Row[],
  fresh: readonly Row[],
): { rows: Row[]; more: number } {
  const now = new Map(fresh.map((row) => [row.key, row]));
  const known = new Set(old.map(({ key }) => key));
  const newest = old.reduce((latest, { at }) => Math.max(latest, at), 0);
  return {
    rows: old.map((row) => now.get(row.key) ?? row),
    more: fresh.filter(({ key, at }) => !known.has(key) && at >= newest).length,
  };
}
