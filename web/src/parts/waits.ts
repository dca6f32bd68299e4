/** What a run, a task or a session waits for, in a sentence; null where it waits for nothing. Pure. */

import type { RunView, SessionView, TaskRunView } from "../api/types.gen";
import { visible } from "../words";
import { type Asked, titleOf } from "./asking";

const FOR: Record<Asked["kind"], string> = {
  "approval.asked": "your approval",
  "question.asked": "your answer",
  "limit.reached": "your decision",
  "plan.asked": "your approval of its plan",
  "switch.asked": "your decision",
  "sign-in.asked": "your sign-in",
};

export function waitOfSession(
  session: Pick<SessionView, "state" | "items" | "waiting_calls">,
): string | null {
  if (session.state === "closed") return null;
  const [item] = session.items;
  if (item !== undefined) return `Waiting for ${FOR[item.asked.kind]}: ${titleOf(item.asked)}`;
  const [call] = session.waiting_calls;
  if (call === undefined) return null;
  const where = visible(call.session_title) || call.session;
  return `Waiting for the approval “${visible(call.title)}” in the session “${where}”`;
}

/** All of it waits, or at least one of its tasks for a person. */
export function waitOfRun(run: Pick<RunView, "ended_at" | "waits_for" | "running">): string | null {
  if (run.ended_at != null) return null;
  const asks = run.running.find((work) => work.for_person)?.waits_for;
  const reason = run.waits_for ?? asks;
  return reason == null ? null : `Waiting for ${visible(reason)}`;
}

export const waitOfTask = (task: Pick<TaskRunView, "waits_for">): string | null =>
  task.waits_for == null ? null : `Waiting for ${visible(task.waits_for)}`;
