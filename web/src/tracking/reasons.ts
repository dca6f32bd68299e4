/** Why a task stands as it stands: every check, its outcome and its reason. Pure. */

import type { TaskState } from "../state/types";
import { checkName, clipped, outcomeOf } from "./said";

export type Outcome = "passed" | "failed" | "could not be checked" | "pending" | "used up";

export type Reason = {
  check: string;
  attempt: string;
  outcome: Outcome;
  reason: string;
  /** When it was looked at: by it the event is found. */
  at: number | null;
  field: string | null;
  round: number;
};

export function reasonsOf(task: TaskState): Reason[] {
  const reasons = task.checks.map(
    (check): Reason => ({
      check: checkName(check.field),
      attempt: check.field.startsWith("availability.") ? "–" : `#${check.round + 1}`,
      outcome: outcomeOf(check),
      reason: clipped(check.reason, 1_000),
      at: check.at,
      field: check.field,
      round: check.round,
    }),
  );
  const asked = beingAsked(task);
  if (asked !== null) reasons.push(asked);
  const spent = spentOf(task);
  if (spent !== null) reasons.push(spent);
  return reasons;
}

const nothing = { at: null, field: null } as const;

function beingAsked(task: TaskState): Reason | null {
  const last = task.attempts.at(-1);
  if (task.ended_at != null || last === undefined || last.ended_at != null) return null;
  if (last.mission.kind === "prompt") return null;
  const field = `${last.mission.kind}.condition`;
  return {
    ...nothing,
    check: checkName(field),
    attempt: last.mission.kind === "criteria" ? `#${last.mission.round + 1}` : "–",
    outcome: "pending",
    reason: "checking",
    round: last.mission.round,
  };
}

function spentOf(task: TaskState): Reason | null {
  if (task.state !== "failed" || task.retries === 0) return null;
  const crashes = task.crashes > 0 ? `; ${task.crashes} crashed` : "";
  return {
    ...nothing,
    check: "retryTimes",
    attempt: "–",
    outcome: "used up",
    reason: `${count(task.retries, "retry", "retries")} used${crashes}`,
    round: task.retries,
  };
}

const count = (n: number, one: string, many: string) => (n === 1 ? `1 ${one}` : `${n} ${many}`);

/** How many times the prompt was sent, retries of the criteria and not of crashes. */
export const attemptsOf = (task: TaskState): number => task.retries + 1;

/** All of it in a sentence or two. */
export function summaryOf(task: TaskState, forYou: boolean): string {
  const failed = task.checks.filter((check) => !check.holds);
  const last = task.checks.filter((check) => check.round === task.retries && !check.holds);
  switch (task.state) {
    case "succeeded":
      if (task.checks.length === 0)
        return "It has no checks. It succeeded when its prompt was done.";
      return task.retries === 0
        ? "All checks passed in the first attempt."
        : `All checks passed in attempt #${task.retries + 1}, after ${count(task.retries, "retry", "retries")}.`;
    case "failed":
      if (last.length === 0) return clipped(task.reason ?? "It failed.");
      return `${missed(last)} in the last attempt, and no retries are left.`;
    case "crashed":
      return `It crashed: ${clipped(task.reason ?? "")}`;
    case "canceled":
      return clipped(task.reason ?? "It was stopped.");
    default: {
      const before =
        failed.length === 0
          ? ""
          : `Attempt #${task.retries} failed ${count(failed.length, "check", "checks")}. `;
      const now = `Attempt #${task.retries + 1} is ${isChecked(task) ? "being checked" : "running"}`;
      return `${before}${now}${forYou ? " and waiting for your decision" : ""}.`;
    }
  }
}

/** Which of the checks did not hold, and which nobody could be asked. */
function missed(checks: TaskState["checks"]): string {
  const unasked = checks.filter((check) => check.unasked);
  const failed = checks.length - unasked.length;
  const names = unasked.map((check) => checkName(check.field)).join(", ");
  const parts = [
    failed > 0 ? `${count(failed, "check", "checks")} failed` : "",
    unasked.length > 0 ? `${names} could not be checked` : "",
  ];
  return parts.filter((part) => part !== "").join(" and ");
}

const isChecked = (task: TaskState) => task.attempts.at(-1)?.mission.kind === "criteria";
