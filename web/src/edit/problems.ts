/** What is wrong with a draft, as places in its text and words for people. Pure. */

import type { CheckedDraft, Repair, Violation } from "./wire";

export type Problem = {
  isError: boolean;
  /** Null where it is nowhere in particular. */
  line: number | null;
  from: number;
  to: number;
  what: string;
  allowed: string;
  example: string;
  where: string;
  repairs: readonly Change[];
};

export type Change = { title: string; from: number; to: number; text: string };

export function problemsOf(checked: CheckedDraft, text: string): readonly Problem[] {
  const lines = new Lines(text);
  const errors = checked.violations.map((violation) => problemOf(violation, lines));
  const hints = checked.ungranted.map((what) => ({
    ...NOWHERE,
    isError: false,
    what,
  }));
  return [...errors.sort((a, b) => a.from - b.from), ...hints];
}

const NOWHERE = {
  line: null,
  from: 0,
  to: 0,
  allowed: "",
  example: "",
  where: "",
  repairs: [],
} as const;

function problemOf(violation: Violation, lines: Lines): Problem {
  const { line, column, where, reason, hint, advice, example, excerpt } = violation;
  const marked = excerpt.find((row) => row.line === line)?.marked ?? "";
  const told = { what: sentence(reason, where), where: shortly(where), example: example ?? "" };
  const allowed = [hint, advice]
    .filter((words) => words != null && words !== "")
    .join(" ")
    .replace(/ ?For example:$/, "");
  const repairs = violation.repairs.map((repair) => changeOf(repair, lines));
  if (line == null) return { ...NOWHERE, ...told, isError: true, allowed, repairs };
  const whole = lines.range(line);
  const from = column == null ? whole.from : lines.offset(line, column);
  const to = marked === "" ? whole.to : from + marked.length;
  return {
    ...told,
    isError: true,
    line,
    from: Math.min(from, lines.length),
    to: Math.min(Math.max(to, from), lines.length),
    allowed,
    repairs,
  };
}

/** `jobs.fix.work.works[1].taskId` for `entry.jobs["fix"].work.works[1].taskId`. */
export const shortly = (where: string): string =>
  where
    .replace(/^entry\.?/, "")
    .replace(/\["([\w-]+)"\]/g, ".$1")
    .replace(/^\./, "");

/** Many reasons go on from the place, which stands elsewhere here: its last part comes before. */
function sentence(reason: string, where: string): string {
  const last = shortly(where).split(".").at(-1) ?? "";
  return /^[a-z]/.test(reason) && last !== "" ? `${last} ${reason}` : reason;
}

const changeOf = ({ title, line, column, end_line, end_column, text }: Repair, lines: Lines) => {
  const from = lines.offset(line, column);
  return { title, from, to: Math.max(from, lines.offset(end_line, end_column)), text };
};

/** Lines and columns, which count from 1 and by whole characters, as places in the text. */
class Lines {
  private readonly lines: readonly string[];
  private readonly starts: readonly number[];
  readonly length: number;

  constructor(text: string) {
    this.lines = text.split("\n");
    let at = 0;
    this.starts = this.lines.map((line) => {
      const start = at;
      at += line.length + 1;
      return start;
    });
    this.length = text.length;
  }

  offset(line: number, column: number): number {
    const words = this.lines[line - 1];
    if (words === undefined) return this.length;
    const before = [...words].slice(0, column - 1).join("").length;
    return (this.starts[line - 1] ?? 0) + before;
  }

  /** What is written on the line, without what it is indented by. */
  range(line: number): { from: number; to: number } {
    const words = this.lines[line - 1] ?? "";
    const start = this.starts[line - 1] ?? this.length;
    return { from: start + words.length - words.trimStart().length, to: start + words.length };
  }
}

export const errorsIn = (problems: readonly Problem[]): number =>
  problems.filter(({ isError }) => isError).length;

export const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? "" : "s"}`;

/** The one behind the place; behind the last comes the first again. */
export function nextProblem(problems: readonly Problem[], at: number): number | null {
  const placed = problems.flatMap((problem, index) => (problem.line === null ? [] : [index]));
  const from = (index: number) => problems[index]?.from ?? 0;
  return placed.find((index) => from(index) > at) ?? placed[0] ?? null;
}
