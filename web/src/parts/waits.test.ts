import { expect, test } from "vitest";
import type { InboxItem, RunningWork, WaitingCall } from "../api/types.gen";
import { waitOfRun, waitOfSession, waitOfTask } from "./waits";

const item = (asked: object) => ({ id: "itm_1", asked }) as unknown as InboxItem;
const call = {
  block: "b",
  item: "itm_1",
  title: "Edit tally.py?",
  session: "ses_9",
  session_title: "first edit",
} as unknown as WaitingCall;
const NOTHING = { state: "working", items: [], waiting_calls: [] } as const;

test("a session says what it waits for, its own request first", () => {
  const approval = item({ kind: "approval.asked", title: "Run make?" });
  const question = item({ kind: "question.asked", question: "Which colour?" });
  expect(waitOfSession(NOTHING)).toBeNull();
  expect(waitOfSession({ ...NOTHING, items: [approval], waiting_calls: [call] })).toBe(
    "Waiting for your approval: Run make?",
  );
  expect(waitOfSession({ ...NOTHING, items: [question] })).toBe(
    "Waiting for your answer: Which colour?",
  );
  expect(waitOfSession({ ...NOTHING, waiting_calls: [call] })).toBe(
    "Waiting for the approval “Edit tally.py?” in the session “first edit”",
  );
  expect(waitOfSession({ ...NOTHING, waiting_calls: [{ ...call, session_title: "" }] })).toBe(
    "Waiting for the approval “Edit tally.py?” in the session “ses_9”",
  );
  expect(waitOfSession({ ...NOTHING, state: "closed", items: [approval] })).toBeNull();
});

test("a run says it where all of it waits, or one of its tasks for a person", () => {
  const works = (for_person: boolean) =>
    [{}, { waits_for: "your approval: x", for_person }] as unknown as RunningWork[];
  expect(waitOfRun({ waits_for: "a free place", running: [] })).toBe("Waiting for a free place");
  expect(waitOfRun({ running: works(true) })).toBe("Waiting for your approval: x");
  expect(waitOfRun({ running: works(false) })).toBeNull();
  expect(waitOfRun({ running: works(true), ended_at: 1 })).toBeNull();
  expect([waitOfTask({}), waitOfTask({ waits_for: "a free place" })]).toEqual([
    null,
    "Waiting for a free place",
  ]);
});
