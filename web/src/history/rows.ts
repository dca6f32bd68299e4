/** Runs, tasks and sessions as rows of one list, newest first, from lists that are read page by page. Pure. */

import type { RunView, SessionView, TaskRunView } from "../api/types.gen";
import { runAddress, runName, stateOfTask, taskAddress } from "../start/rows";
import { cost, visible } from "../words";
import type { Source } from "./filters";

export type Row = {
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
  /** Null while it goes on. */
  ended: number | null;
  cost: string;
  /** Of a run: the beginning of its input, and its tags. */
  input?: string;
  tags?: readonly string[];
};

export function rowOfRun(run: RunView): Row {
  const done = run.works_succeeded;
  return {
    id: run.id,
    source: "runs",
    href: runAddress(run.job, run.id),
    name: visible(runName(run)),
    state: run.state === "running" && run.restarts > 0 ? "resumed" : run.state,
    kind: `Job · ${done === 1 ? "1 task" : `${done} tasks`}`,
    folder: visible(run.cwd),
    model: "",
    at: run.created_at,
    ended: run.ended_at ?? null,
    cost: cost(run.usage.cost + run.usage.sub_agents.cost),
    input: visible(run.input_start),
    tags: run.tags,
  };
}

/** One that somebody started by itself. */
export function rowOfTask(task: TaskRunView): Row {
  return {
    id: task.id,
    source: "task-runs",
    href: taskAddress(task),
    name: visible(task.task),
    state: stateOfTask(task),
    kind: "Task",
    folder: visible(task.cwd),
    model: visible(task.model),
    at: task.created_at,
    ended: task.ended_at ?? null,
    cost: cost(task.usage.cost + task.usage.sub_agents.cost),
  };
}

export function rowOfSession(session: SessionView): Row {
  const asks = session.items.length > 0 && session.state !== "closed";
  const goesOn = asks || session.state === "working" || session.state === "opening";
  return {
    id: session.id,
    source: "sessions",
    href: `/index.html?${new URLSearchParams({ session: session.id })}`,
    name: visible(session.title) || "Untitled",
    state: asks ? "asking" : session.state,
    kind: "Session",
    folder: visible(session.cwd),
    model: visible(session.model),
    at: session.created_at,
    ended: goesOn ? null : session.updated_at,
    cost: cost(session.usage.cost + session.usage.sub_agents.cost),
  };
}

/** A run is gone on with; of a task a new one is made. */
export const canRetry = ({ source, state }: Row): boolean =>
  source !== "sessions" && (state === "failed" || state === "canceled");

export const lastPart = (path: string): string =>
  path.split(/[\\/]/).findLast((part) => part !== "") ?? path;

/** One of the lists, as far as it was read. */
export type Read = { rows: readonly Row[]; cursor: string | null };

const byAge = (a: Row, b: Row): number => b.at - a.at || (a.id < b.id ? 1 : -1);

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
  const now = new Map(fresh.map((row) => [row.id, row]));
  const known = new Set(old.map(({ id }) => id));
  const newest = old.reduce((latest, { at }) => Math.max(latest, at), 0);
  return {
    rows: old.map((row) => now.get(row.id) ?? row),
    more: fresh.filter(({ id, at }) => !known.has(id) && at >= newest).length,
  };
}
