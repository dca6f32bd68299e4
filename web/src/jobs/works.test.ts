import { expect, test } from "vitest";
import type { TaskItem } from "../api/types.gen";
import { inOneSentence, policiesOf, readersOf, tasksOf } from "./works";

const ref = (taskId: string) => ({ kind: "Ref", taskId });
const SAMPLE = {
  kind: "Seq",
  works: [
    { kind: "Par", works: [ref("look"), ref("read")] },
    { kind: "Alt", condition: ref("decide"), trueWork: ref("suggest") },
  ],
};
const LOOP = {
  kind: "Loop",
  preCondition: [true, ref("verify")],
  body: ref("mend"),
  postCondition: [false, ref("verify")],
};
const task = (name: string, more: Partial<TaskItem> = {}): TaskItem => ({
  name,
  requireUserInput: false,
  about: "",
  prompt: "",
  model: "m",
  permissions: "ask",
  criteria: "",
  ...more,
});

test("tasks are counted as often as they stand there, and those in loops apart", () => {
  expect(tasksOf(SAMPLE)).toEqual({ names: ["look", "read", "decide", "suggest"], looped: 0 });
  const both = { kind: "Seq", works: [ref("plan"), LOOP] };
  expect(tasksOf(both)).toEqual({ names: ["plan", "verify", "mend", "verify"], looped: 3 });
});

test("a small job is told in a sentence", () => {
  expect(inOneSentence(SAMPLE)).toBe(
    "look and read in parallel, then if decide says yes, suggest.",
  );
  expect(inOneSentence(LOOP)).toBe("If verify says yes, mend, repeated until verify says yes.");
  const fix = { kind: "Alt", condition: ref("verify"), falseWork: ref("mend") };
  expect(inOneSentence(fix)).toBe("If verify says no, mend.");
  expect(inOneSentence({ ...fix, trueWork: ref("rest") })).toBe(
    "If verify says yes, rest, else mend.",
  );
});

test("a large one by its parts, and one with too many parts not at all", () => {
  const works = Array.from({ length: 60 }, (_, at) => ref(`task-${at}`));
  const wide = { kind: "Par", works };
  expect(inOneSentence({ kind: "Seq", works: [ref("plan"), wide, LOOP] })).toBe(
    "plan, then 60 tasks in parallel, then a loop of 3 tasks.",
  );
  expect(inOneSentence({ kind: "Seq", works })).toBeNull();
});

test("one knows which tasks read the input, and what agents may do in them", () => {
  const tasks = [
    task("look", { requireUserInput: true }),
    task("read", { permissions: "deny-all" }),
  ];
  expect(readersOf(SAMPLE, tasks)).toEqual(["look"]);
  expect(policiesOf(SAMPLE, tasks)).toEqual(["ask", "deny-all"]);
});
