/** A run, a task and a session as they were at a moment. Pure, and from what a page knows anyway: a
    run of a hundred thousand events costs no more than its works. */

import type { RunDetail, Usage, WorkRecord } from "../api/types.gen";
import type { Block, SessionState, TaskState } from "../state/types";
import { NO_USAGE } from "../state/usage";
import type { Wait } from "./said";

/** What was begun then; what has ended since goes on. */
export function runAt(run: RunDetail, at: number, waits: readonly Wait[]): RunDetail {
  const works = run.works
    .filter((work) => work.started_at <= at)
    .map((work) => workAt(work, at, waits));
  const open = works.filter((work) => work.ended_at == null);
  const isOver = run.ended_at != null && run.ended_at <= at;
  const asked = open.some((work) => work.state === "waiting-for-person");
  return {
    ...run,
    works,
    state: isOver ? run.state : asked ? "waiting-for-person" : "running",
    ended_at: isOver ? (run.ended_at ?? null) : null,
    ending: null,
    updated_at: Math.min(run.updated_at, at),
    running: run.running.filter((work) => work.started_at <= at),
    works_succeeded: works.filter((work) => work.state === "succeeded").length,
    works_failed: works.filter((work) => work.state === "failed").length,
    usage: usedBy(run.usage, works),
  };
}

/** What is shown of it; the whole sum of thousands of works would cost a frame. */
function usedBy(usage: Usage, works: readonly WorkRecord[]): Usage {
  let [requests, cost, milliseconds, others, theirs] = [0, 0, 0, 0, 0];
  for (const { usage: one } of works) {
    requests += one.requests;
    cost += one.cost;
    milliseconds += one.milliseconds;
    others += one.sub_agents.requests;
    theirs += one.sub_agents.cost;
  }
  const sub_agents = { ...usage.sub_agents, requests: others, cost: theirs };
  return { ...usage, requests, cost, milliseconds, sub_agents };
}

function workAt(work: WorkRecord, at: number, waits: readonly Wait[]): WorkRecord {
  if (work.ended_at != null && work.ended_at <= at) return work;
  const its = waits.filter(
    ({ path, from }) => path === work.path && from >= work.started_at && from <= at,
  );
  const wait = its.find((one) => one.to === null || one.to > at);
  // As for one that goes on now: what it worked until it last waited, and since when it works again.
  const since = Math.max(
    work.started_at,
    ...its.map((one) => one.to ?? 0).filter((to) => to <= at),
  );
  const waited = its.reduce(
    (sum, { from, to }) => sum + (to !== null && to <= at ? to - from : 0),
    0,
  );
  return {
    ...work,
    state: wait === undefined ? "running" : wait.forPerson ? "waiting-for-person" : "waiting",
    ended_at: null,
    waits_for: wait?.reason ?? null,
    retried_at: work.retried_at.filter((begun) => begun <= at),
    unasked: false,
    usage: NO_USAGE,
    worked_ms: (wait?.from ?? since) - work.started_at - waited,
    working_since: wait === undefined ? since : null,
    conclusion: "",
  };
}

export function taskAt(task: TaskState, at: number): TaskState {
  const isOver = task.ended_at != null && task.ended_at <= at;
  return {
    ...task,
    state: isOver ? task.state : "running",
    ended_at: isOver ? (task.ended_at ?? null) : null,
    reason: isOver ? (task.reason ?? null) : null,
    decisions: task.decisions.filter((one) => one.at <= at),
    checks: task.checks.filter((one) => one.at <= at),
    attempts: task.attempts
      .filter((one) => one.started_at <= at)
      .map((one) =>
        one.ended_at != null && one.ended_at > at
          ? { ...one, ended_at: null, outcome: null, reason: null }
          : one,
      ),
    task_sessions: task.task_sessions
      .filter((one) => one.started_at <= at)
      .map((one) =>
        one.stopped_at != null && one.stopped_at > at
          ? { ...one, stopped_at: null, succeeded: null }
          : one,
      ),
  };
}

/** The pieces of a text have no times any more: of one that was coming in, so much is shown as of its
    time had passed. `most` of what stood last are enough while somebody drags. */
export function sessionAt(session: SessionState, at: number, most = Infinity): SessionState {
  const times = timesOf(session);
  const end = countUntil(times.length, (place) => (times[place] ?? 0) <= at);
  const order = session.order.slice(Math.max(0, end - most), end);
  const blocks = new Map<string, Block>();
  const put = (id: string) => {
    const block = session.blocks.get(id);
    if (block === undefined || block.at > at) return;
    blocks.set(id, blockAt(block, at));
    if (block.kind === "tool") for (const child of block.children) put(child);
  };
  for (const id of order) put(id);
  return { ...session, blocks, order };
}

/** How many blocks came later, and when the first of them did. */
export function laterThan(
  sessions: readonly SessionState[],
  at: number,
): { count: number; next: number | null } {
  let [count, next] = [0, Infinity];
  for (const session of sessions) {
    const times = timesOf(session);
    const place = countUntil(times.length, (one) => (times[one] ?? 0) <= at);
    count += times.length - place;
    next = Math.min(next, times[place] ?? Infinity);
  }
  return { count, next: count === 0 ? null : next };
}

const known = new WeakMap<SessionState, readonly number[]>();

/** When each of what stands by itself was there, with all before it: what waited in a queue is older
    than what it stands behind. Once for each state, since a moment is asked for with each frame. */
function timesOf(session: SessionState): readonly number[] {
  const found = known.get(session);
  if (found !== undefined) return found;
  let last = 0;
  const times = session.order.map((id) => {
    last = Math.max(last, session.blocks.get(id)?.at ?? 0);
    return last;
  });
  known.set(session, times);
  return times;
}

/** How many come before the first for which it does not hold; they are in order. */
export function countUntil(count: number, holds: (place: number) => boolean): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function blockAt(block: Block, at: number): Block {
  if (block.kind === "note") return block;
  if (block.kind === "ask") {
    return block.settled !== null && block.settled.at > at ? { ...block, settled: null } : block;
  }
  if (block.ended_at !== null && block.ended_at <= at) return block;
  const length = Math.max(1, (block.ended_at ?? at) - block.at);
  const share = Math.min(1, (at - block.at) / length);
  const cut = (text: string) => text.slice(0, Math.round(text.length * share));
  const open = { receiving: true, ended_at: null };
  return block.kind === "tool"
    ? { ...block, ...open, output: cut(block.output), result: null, detail: null, error: null }
    : { ...block, ...open, text: cut(block.text) };
}

/** Says when the run changed last before a moment: between two changes it is the same. */
export function lastChange(run: RunDetail, waits: readonly Wait[]): (at: number) => number {
  const ends = waits.flatMap((wait) => (wait.to === null ? [wait.from] : [wait.from, wait.to]));
  const times = [...momentsOf(run), ...ends].sort((one, two) => one - two);
  return (at) => times[countUntil(times.length, (place) => (times[place] ?? 0) <= at) - 1] ?? at;
}

/** When something happened that one would step to, in order. */
export function momentsOf(run: RunDetail, waits: readonly Wait[] = []): readonly number[] {
  const times = new Set<number>([run.created_at]);
  for (const wait of waits) {
    if (!wait.forPerson) continue;
    times.add(wait.from);
    if (wait.to !== null) times.add(wait.to);
  }
  for (const work of run.works) {
    times.add(work.started_at);
    for (const again of work.retried_at) times.add(again);
    if (work.ended_at != null) times.add(work.ended_at);
  }
  if (run.ended_at != null) times.add(run.ended_at);
  return [...times].sort((one, two) => one - two);
}

/** The first one behind a moment, or the last one before it; null where there is none. */
export function stepFrom(moments: readonly number[], at: number, by: 1 | -1): number | null {
  const isBefore = (one: number) => (by === 1 ? one <= at : one < at);
  const place = countUntil(moments.length, (one) => isBefore(moments[one] ?? 0));
  return moments[by === 1 ? place : place - 1] ?? null;
}
