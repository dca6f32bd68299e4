import { describe, expect, it } from "vitest";
import { taskInWords, whyNotRehearse } from "./rehearsal";
import type { RehearsedTask } from "./wire";

const task: RehearsedTask = {
  name: "fix-tests",
  state: "succeeded",
  rounds: 1,
  requests: 1,
  seconds: 0.42,
};

describe("a rehearsed task", () => {
  it("tells its rounds only where there were several", () => {
    expect(taskInWords(task, true)).toBe("1 request, 0.4 s");
    expect(taskInWords({ ...task, rounds: 2, requests: 3, seconds: 1.1 }, true)).toBe(
      "2 rounds, 3 requests, 1.1 s",
    );
  });

  it("says so where it has not begun, or never did", () => {
    const waiting: RehearsedTask = { ...task, state: "waiting", requests: 0, seconds: 0 };
    expect(taskInWords(waiting, false)).toBe("waiting");
    expect(taskInWords(waiting, true)).toBe("did not run");
  });
});

describe("a rehearsal", () => {
  const can = {
    barred: null,
    isAway: false,
    errors: 0,
    isChecked: true,
    job: "fix",
    isRunning: false,
  };

  it("says what is in its way, the most lasting reason first", () => {
    expect(whyNotRehearse(can)).toBeNull();
    expect(whyNotRehearse({ ...can, errors: 1 })).toBe("Fix 1 error to rehearse");
    expect(whyNotRehearse({ ...can, errors: 3, barred: "Your role" })).toBe("Your role");
    expect(whyNotRehearse({ ...can, job: null })).toBe("Write a job to rehearse");
    expect(whyNotRehearse({ ...can, job: null, isChecked: false })).toBe("Checking…");
    expect(whyNotRehearse({ ...can, isAway: true })).toBe("The server is not responding");
  });
});
