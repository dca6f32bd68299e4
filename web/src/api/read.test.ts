import { expect, test } from "vitest";
import { readMessage, readProblem, readSessions, readStatus, readTime } from "./read";

test("a status is read", () => {
  const copilot = { signed_in: true, login: "mona", how: "GH_TOKEN", detail: null };
  const rehearsal = { on: true, builtin: false, script: null };
  const entry = { source: "file", path: "/w/airboss.yaml", tasks: 2, problem: "It is gone." };
  expect(readStatus({ version: "0.1.0", rehearsal, policy: "read-only", copilot, entry })).toEqual({
    version: "0.1.0",
    rehearsal: true,
    policy: "read-only",
    copilot: { signedIn: true, login: "mona", how: "GH_TOKEN", detail: null },
    entry: { source: "file", path: "/w/airboss.yaml", problem: "It is gone." },
  });
});

test("nonsense is not known, not an error", () => {
  const nobody = { signedIn: null, login: null, how: null, detail: null };
  const nothing = { version: null, rehearsal: false, policy: null, copilot: nobody, entry: null };
  for (const body of [null, 7, "x", [], {}, { copilot: [], policy: {}, rehearsal: "yes" }]) {
    expect(readStatus(body)).toEqual(nothing);
  }
});

test("sessions are read, and what is no session is passed over", () => {
  const body = {
    items: [
      { id: "ses_1", state: "running", model: "gpt-5.2", cwd: "/w", title: "Why?", updated_at: 5 },
      { id: "ses_2", created_at: "2026-11-15T14:00:00Z" },
      { state: "running" },
      null,
    ],
    next_cursor: "c",
  };
  const unsaid = { title: null, model: null, cwd: null };
  expect(readSessions(body)).toEqual({
    sessions: [
      { id: "ses_1", state: "running", model: "gpt-5.2", cwd: "/w", title: "Why?", updatedAt: 5 },
      { id: "ses_2", state: "unknown", ...unsaid, updatedAt: Date.UTC(2026, 10, 15, 14) },
    ],
    more: true,
  });
  expect(readSessions(null)).toEqual({ sessions: [], more: false });
});

test("times come as text or as milliseconds", () => {
  expect(readTime("1970-01-01T00:00:01Z")).toBe(1000);
  expect(readTime(1000)).toBe(1000);
  expect([readTime("soon"), readTime(null), readTime(Number.NaN)]).toEqual([null, null, null]);
});

test("a problem says its detail, else its title", () => {
  expect(readProblem({ title: "Unauthorized", detail: "Sign in." })).toBe("Sign in.");
  expect(readProblem({ title: "Unauthorized" })).toBe("Unauthorized");
  expect(readProblem("<html>")).toBeNull();
});

test("a message is a text", () => {
  expect(readMessage({ message: "Hello" })).toBe("Hello");
  expect(readMessage({ message: 1 })).toBeNull();
});
