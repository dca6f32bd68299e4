import { describe, expect, it } from "vitest";
import { nextProblem, problemsOf, shortly } from "./problems";
import type { CheckedDraft, Violation } from "./wire";

const TEXT = "jobs:\n  fix: {taskId: fix-test}\n  # 🚀 x: y\n";

const violation = (more: Partial<Violation>): Violation => ({
  where: "jobs.fix.taskId",
  reason: "“fix-test” is not a task of this entry.",
  hint: "Did you mean fix-tests?",
  line: 2,
  column: 17,
  is_around: false,
  repairs: [],
  excerpt: [{ line: 2, before: "  fix: {taskId: ", marked: "fix-test", after: "}" }],
  ...more,
});

const checked = (...violations: Violation[]): CheckedDraft => ({
  valid: violations.length === 0,
  violations,
  mistakes: violations.length,
  ungranted: [],
  tasks: [],
  jobs: [],
});

const [first] = problemsOf(checked(violation({})), TEXT);

describe("a problem", () => {
  it("marks in the text what the server marks", () => {
    expect(TEXT.slice(first?.from, first?.to)).toBe("fix-test");
  });

  it("marks the whole line where nothing on it is marked", () => {
    const [found] = problemsOf(checked(violation({ excerpt: [], column: null })), TEXT);
    expect(TEXT.slice(found?.from, found?.to)).toBe("fix: {taskId: fix-test}");
  });

  it("counts columns by characters, as people and the server do", () => {
    const excerpt = [{ line: 3, before: "  # 🚀 ", marked: "x", after: ": y" }];
    const [found] = problemsOf(checked(violation({ line: 3, column: 7, excerpt })), TEXT);
    expect(TEXT.slice(found?.from, found?.to)).toBe("x");
  });

  it("stays within a text that has become shorter", () => {
    const [found] = problemsOf(checked(violation({ line: 90, column: 4 })), TEXT);
    expect(found).toMatchObject({ from: TEXT.length, to: TEXT.length });
  });

  it("has repairs as changes of the text", () => {
    const repair = { title: "Use fix-tests", line: 2, column: 17, end_line: 2, end_column: 25 };
    const [found] = problemsOf(
      checked(violation({ repairs: [{ ...repair, text: "fix-tests" }] })),
      TEXT,
    );
    const [change] = found?.repairs ?? [];
    const after = TEXT.slice(0, change?.from) + change?.text + TEXT.slice(change?.to);
    expect(after).toContain("{taskId: fix-tests}");
  });

  it("names its place as people would write it", () => {
    expect(shortly('entry.jobs["fix"].work.works[1].taskId')).toBe("jobs.fix.work.works[1].taskId");
    expect(shortly('entry.tasks["a b"].prompt')).toBe('tasks["a b"].prompt');
  });

  it("is a whole sentence where the server goes on from the place", () => {
    const where = 'entry.jobs["fix"].work.modelOverride';
    const [found] = problemsOf(checked(violation({ where, reason: "must be defined." })), TEXT);
    expect(found?.what).toBe("modelOverride must be defined.");
  });

  it("is a hint where the entry asks for more than it gets", () => {
    const [hint] = problemsOf({ ...checked(), ungranted: ["fix asks for approve-all."] }, TEXT);
    expect(hint).toMatchObject({ isError: false, line: null, what: "fix asks for approve-all." });
  });
});

describe("the next problem", () => {
  const problems = problemsOf(
    checked(violation({ line: 3, column: 1, excerpt: [] }), violation({ line: 1, column: 1 })),
    TEXT,
  );

  it("is the one behind the cursor, and behind the last the first", () => {
    expect(problems.map(({ line }) => line)).toEqual([1, 3]);
    expect(nextProblem(problems, 0)).toBe(1);
    expect(nextProblem(problems, TEXT.length)).toBe(0);
    expect(nextProblem([], 0)).toBeNull();
  });
});
