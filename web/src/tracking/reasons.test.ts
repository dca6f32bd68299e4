import { describe, expect, it } from "vitest";
import type { TaskState } from "../state/types";
import { reasonsOf, summaryOf } from "./reasons";

type Check = TaskState["checks"][number];

const check = (round: number, holds: boolean, reason: string, unasked = false): Check => ({
  at: 1_000 + round,
  field: "criteria.condition",
  round,
  holds,
  content: "",
  reason,
  unasked,
});

const task = (more: Partial<TaskState>): TaskState =>
  ({
    state: "running",
    retries: 0,
    crashes: 0,
    checks: [],
    attempts: [],
    ended_at: null,
    reason: null,
    ...more,
  }) as unknown as TaskState;

const mission = (kind: "prompt" | "criteria", round: number, ended_at: number | null = null) =>
  ({
    mission: { kind, round, attempt: 1 },
    started_at: 1,
    ended_at,
  }) as unknown as TaskState["attempts"][number];

describe("why a task stands as it stands", () => {
  it("tells what could not be checked from what does not hold", () => {
    const unasked = task({
      state: "failed",
      retries: 1,
      checks: [check(0, false, "exits with 2"), check(1, false, "HTTP 401", true)],
    });
    expect(reasonsOf(unasked).map(({ outcome }) => outcome)).toEqual([
      "failed",
      "could not be checked",
      "used up",
    ]);
    expect(summaryOf(unasked, false)).toBe(
      "condition could not be checked in the last attempt, and no retries are left.",
    );
  });

  it("has a row for each check, with its attempt", () => {
    const failed = task({ checks: [check(0, false, "exits with 2"), check(1, true, "fine")] });
    expect(reasonsOf(failed).map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      ["#1", "failed"],
      ["#2", "passed"],
    ]);
  });

  it("says what is being checked, and that retries are used up", () => {
    const asked = task({ attempts: [mission("prompt", 0, 5), mission("criteria", 0)] });
    expect(reasonsOf(asked)).toMatchObject([{ check: "condition", outcome: "pending" }]);
    const spent = task({ state: "failed", ended_at: 9, retries: 2, crashes: 1 });
    expect(reasonsOf(spent)).toMatchObject([
      { check: "retryTimes", outcome: "used up", reason: "2 retries used; 1 crashed" },
    ]);
  });

  it("sums it up in a sentence", () => {
    const checks = [check(0, false, "no")];
    expect(summaryOf(task({}), false)).toBe("Attempt #1 is running.");
    expect(summaryOf(task({ checks, retries: 1, attempts: [mission("criteria", 1)] }), true)).toBe(
      "Attempt #1 failed 1 check. Attempt #2 is being checked and waiting for your decision.",
    );
    expect(summaryOf(task({ state: "failed", checks, ended_at: 9 }), false)).toBe(
      "1 check failed in the last attempt, and no retries are left.",
    );
    const held = [check(0, false, "no"), check(1, true, "yes")];
    expect(summaryOf(task({ state: "succeeded", checks: held, retries: 1 }), false)).toBe(
      "All checks passed in attempt #2, after 1 retry.",
    );
    expect(summaryOf(task({ state: "succeeded" }), false)).toContain("has no checks");
  });

  it("shows the beginning of a reason without an end", () => {
    const [reason] = reasonsOf(task({ checks: [check(0, false, "x".repeat(1_000_000))] }));
    expect(reason?.reason.length).toBeLessThan(1_100);
  });
});
