import { expect, test } from "vitest";
import type { ApprovalAsked, LimitReached, QuestionAsked } from "../api/types.gen";
import {
  type Asked,
  answerInWords,
  becameOf,
  goingOnMeans,
  ruleInWords,
  titleOf,
  untilWhen,
} from "./asking";

const approval: ApprovalAsked = {
  kind: "approval.asked",
  item: "itm_1",
  request: "r",
  wish: "shell",
  title: "Run npm\u202e run build?",
  description: "No rule speaks of it.",
  severity: "high",
  subject: { command: "npm run build", arguments: "{}" },
  fingerprint: "f",
  choices: ["allow-once", "deny"],
};
const question: QuestionAsked = {
  kind: "question.asked",
  item: "itm_2",
  question: "Which colour?\n\n- Red\n- Blue",
  choices: [],
  allows_words: true,
};
const limit: LimitReached = {
  kind: "limit.reached",
  item: "itm_3",
  scope: "session",
  limit: "turns",
  allowed: 20,
  used: 20,
  more: 20,
  before_turn: true,
};

test("a title is one line and hides nothing", () => {
  expect(titleOf(approval)).toBe("Run npm⟨U+202E⟩ run build?");
  expect(titleOf(question)).toBe("Which colour?");
  expect(titleOf(limit)).toBe("Continue? The session has used 20 of 20 turns.");
});

test("every wait says since when, and its end where there is one", () => {
  const began = new Date(2026, 4, 9, 14, 21).getTime();
  const waits = (asked: Asked, seconds: number, left?: number) => {
    const expires = left === undefined ? {} : { expires_at: began + left * 1_000 };
    return untilWhen({ ...asked, ...expires }, began, began + seconds * 1_000);
  };
  expect(waits(approval, 600)).toBe("Waiting since 14:21");
  expect(waits(question, 86_400)).toBe("Waiting since 9 May, 14:21");
  const since = "Waiting since 14:21 · ";
  expect(waits(approval, 0, 120)).toBe(`${since}Denied automatically in 2:00`);
  expect(waits(approval, 93.5, 94)).toBe(`${since}Denied automatically in 0:01`);
  expect(waits(question, 5, 1)).toBe(`${since}Continues without an answer now`);
  expect(waits(limit, 0, 60)).toBe(`${since}Stopped automatically in 1:00`);
});

test("going on says what it allows", () => {
  expect(goingOnMeans(limit)).toBe(
    "Continuing raises the limit to 40 turns. Then you are asked again. The message has not been sent yet.",
  );
  expect(goingOnMeans({ ...limit, more: null, before_turn: false })).toBe(
    "Continuing removes the limit. Work done so far is kept either way.",
  );
});

test("what became of it is one line with a name and a time", () => {
  const at = new Date(2026, 10, 15, 14, 12).getTime();
  expect(becameOf("approval.asked", { outcome: "allow-once", who: "laptop", at })).toBe(
    "Allowed once by laptop, 14:12",
  );
  expect(becameOf("limit.reached", { outcome: "deny", who: "Jo" })).toBe("Stopped by Jo");
  expect(becameOf("approval.asked", { outcome: "cancelled", reason: "It changed.", at })).toBe(
    "Withdrawn, 14:12. It changed.",
  );
  expect(becameOf("question.asked", { outcome: "timeout", at })).toBe("Timed out, 14:12");
});

test("a rule is told in the order in which it is read", () => {
  expect(
    ruleInWords({ verdict: "allow", wish: "shell", command: "npm run *", folder: "/home/me" }),
  ).toBe("shell npm run * in /home/me → allow");
  expect(ruleInWords({ verdict: "ask" })).toBe("everything → ask");
});

test("an answer is told in words, a form field by field", () => {
  expect(answerInWords("Blue")).toBe("Blue");
  expect(answerInWords('{"city":"Oslo","stops":["a","b"],"flies":true}')).toBe(
    "city: Oslo, stops: a, b, flies: true",
  );
  expect(answerInWords("42")).toBe("42");
});
