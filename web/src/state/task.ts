/** A task run as a page knows it: its view and its story (`model/task_runs.py`). Pure. */

import { ENDED, paused } from "./figures";
import type { Event, Recorded, TaskSession, TaskState } from "./types";
import { addUsage, NO_USAGE, usageOf } from "./usage";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;
type Attempt = TaskState["attempts"][number];

function beginTask(id: string, { seq, at, event }: Recorded): TaskState | null {
  if (event.kind !== "task.accepted") return null;
  return {
    id,
    state: "running",
    task: event.task,
    entry: event.entry,
    model: event.model,
    cwd: event.cwd,
    policy: event.policy,
    who: event.who,
    session: event.session ?? null,
    run: event.run ?? null,
    path: event.path ?? null,
    own_run: event.own_run ?? null,
    waits_for: null,
    for_person: null,
    worked_ms: 0,
    working_since: event.own_run == null ? null : at,
    created_at: at,
    updated_at: at,
    seq,
    sessions: [],
    opened: [],
    missions: 0,
    crashes: 0,
    retries: 0,
    usage: NO_USAGE,
    doing: "",
    reason: null,
    unasked: false,
    ended_at: null,
    user_input: event.user_input,
    decisions: [],
    checks: [],
    attempts: [],
    task_sessions: [],
  };
}

function started(task: TaskState, at: number, event: Of<"task.session.started">) {
  const session: TaskSession = {
    session: event.session,
    model: event.model,
    is_driving: event.is_driving,
    started_at: at,
    stopped_at: null,
    succeeded: null,
  };
  return {
    sessions: [...task.sessions, event.session],
    opened: [...task.opened, event.session],
    task_sessions: [...task.task_sessions, session],
  };
}

function stopped(task: TaskState, at: number, event: Of<"task.session.stopped">) {
  const end = { stopped_at: at, succeeded: event.succeeded };
  return {
    sessions: task.sessions.filter((session) => session !== event.session),
    task_sessions: task.task_sessions.map((one) =>
      one.session === event.session ? { ...one, ...end } : one,
    ),
  };
}

function sent(task: TaskState, at: number, event: Of<"task.mission.sent">) {
  const { kind: _kind, ...told } = event;
  const attempt: Attempt = {
    ...told,
    started_at: at,
    ended_at: null,
    outcome: null,
    calls: [],
    reason: null,
    usage: NO_USAGE,
    effects: null,
  };
  return { missions: task.missions + 1, attempts: [...task.attempts, attempt] };
}

function ended(task: TaskState, at: number, event: Of<"task.mission.ended">) {
  const last = task.attempts.at(-1);
  const end = {
    outcome: event.outcome,
    calls: event.calls ?? [],
    reason: event.reason ?? null,
    usage: usageOf(event.usage),
    effects: event.effects ?? null,
    ended_at: at,
  };
  return {
    crashes: task.crashes + (event.outcome === "crashed" ? 1 : 0),
    usage: addUsage(task.usage, event.usage),
    attempts: last ? [...task.attempts.slice(0, -1), { ...last, ...end }] : task.attempts,
  };
}

function checked(task: TaskState, at: number, event: Of<"task.checked">) {
  const { kind: _kind, ...check } = event;
  return { checks: [...task.checks, { at, ...check, unasked: check.unasked ?? false }] };
}

function changes(task: TaskState, at: number, event: Event): Partial<TaskState> {
  switch (event.kind) {
    case "task.session.started":
      return started(task, at, event);
    case "task.session.stopped":
      return stopped(task, at, event);
    case "task.mission.sent":
      return sent(task, at, event);
    case "task.mission.ended":
      return ended(task, at, event);
    case "task.checked":
      return checked(task, at, event);
    case "task.retrying":
      return { retries: event.retry };
    case "task.decided":
      return { doing: event.text, decisions: [...task.decisions, { at, text: event.text }] };
    case "task.waiting":
      return {
        waits_for: event.reason,
        for_person: event.for_person || null,
        ...paused(task, at, true),
      };
    case "task.going":
      return { waits_for: null, for_person: null, working_since: at };
    case "task.error":
      return { reason: event.message };
    case "task.ended":
      return {
        state: event.outcome,
        reason: event.reason,
        unasked: event.unasked ?? false,
        ended_at: at,
        sessions: [],
        waits_for: null,
        for_person: null,
        ...ENDED,
        usage: addUsage(task.usage, event.usage),
      };
    default: // a newer server may say more than we know
      return {};
  }
}

/** What was told before is passed over. */
export function reduceTask(
  state: TaskState | null,
  events: readonly Recorded[],
  id: string,
): TaskState | null {
  let task = state && { ...state };
  for (const recorded of events) {
    const { seq, at, event } = recorded;
    if (task === null) task = beginTask(id, recorded);
    else if (seq > task.seq) Object.assign(task, changes(task, at, event), { seq, updated_at: at });
  }
  return task;
}
