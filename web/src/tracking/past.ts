/** A run, a task and a session as they were at a moment. Pure, and from what a page knows anyway: a
    run of a hundred thousand events costs no more than its works. */

import type { RunDetail, WorkRecord } from "../api/types.gen";
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
    // What is shown of it; the whole sum of thousands of works would cost a frame.
    usage: { ...run.usage, requests: works.reduce((sum, work) => sum + work.usage.requests, 0) },
  };
}

function workAt(work: WorkRecord, at: number, waits: readonly Wait[]): WorkRecord {
  if (work.ended_at != null && work.ended_at <= at) return work;
  const wait = waits.find(
    (one) =>
      one.path === work.path &&
      one.from >= work.started_at &&
      one.from <= at &&
      (one.to === null || one.to > at),
  );
  return {
    ...work,
    state: wait === undefined ? "running" : wait.forPerson ? "waiting-for-person" : "waiting",
    ended_at: null,
    waits_for: wait?.reason ?? null,
    retried_at: work.retried_at.filter((begun) => begun <= at),
    unasked: false,
    usage: NO_USAGE,
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
    time had passed. */
export function sessionAt(session: SessionState, at: number): SessionState {
  const blocks = new Map<string, Block>();
  for (const [id, block] of session.blocks) {
    if (block.at <= at) blocks.set(id, blockAt(block, at));
  }
  return { ...session, blocks, order: session.order.filter((id) => blocks.has(id)) };
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

/** When something happened that one would step to, in order. */
export function momentsOf(run: RunDetail): readonly number[] {
  const times = new Set<number>([run.created_at]);
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
  const found = by === 1 ? moments.find((one) => one > at) : moments.findLast((one) => one < at);
  return found ?? null;
}
