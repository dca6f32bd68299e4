/** What each task concluded, a line each. What is alike and succeeded is one line. */

import { useSignal } from "@preact/signals";
import type { Report, TaskLine } from "../api/types.gen";
import { Icon, type IconName } from "../parts/icon";
import { duration, visible } from "../words";
import { Inline } from "./inline";
import { Part } from "./report-part";

type Look = { look: string; icon: IconName; word: string };

const LOOKS: Record<TaskLine["state"], Look> = {
  waiting: { look: "waiting", icon: "clock", word: "Waiting" },
  running: { look: "running", icon: "play", word: "Running" },
  "waiting-for-person": { look: "you", icon: "hand", word: "Waiting for you" },
  succeeded: { look: "ok", icon: "tick", word: "Succeeded" },
  failed: { look: "failed", icon: "cross", word: "Failed" },
  canceled: { look: "canceled", icon: "slashed", word: "Canceled" },
  "not-run": { look: "notrun", icon: "minus", word: "Not run" },
  "not-needed": { look: "notrun", icon: "minus", word: "Not needed" },
  "not-yet": { look: "notrun", icon: "minus", word: "Not started" },
};

/** A condition that gave an answer has done what it is for. */
const ANSWERED: Look = { look: "ok", icon: "tick", word: "Answered" };

export type Row = {
  key: number;
  name: string;
  extra: string;
  line: TaskLine;
  /** How many lines it stands for. */
  count: number;
  worked: number;
};

/** So many lines of one task that ended alike become one. */
const ALIKE = 3;

const isPlain = (line: TaskLine) =>
  line.state === "succeeded" || line.state === "not-yet" || line.state === "not-run";

export function rowsOf(lines: readonly TaskLine[]): Row[] {
  const groups = new Map<string, TaskLine[]>();
  for (const line of lines) {
    const key = isPlain(line) ? `${line.task} ${line.state}` : `${line.work}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  return lines.flatMap((line): Row[] => {
    const group = groups.get(`${line.task} ${line.state}`) ?? [line];
    const isOne = isPlain(line) && group.length > ALIKE;
    if (isOne && group[0] !== line) return [];
    const all = isOne ? group : [line];
    const [name = "", ...rest] = line.name.split(" · ");
    const tries = isOne ? "" : triesOf(line);
    return [
      {
        key: line.work,
        name: isOne ? `${line.task} × ${all.length}` : name,
        extra: isOne ? "" : [...rest, tries].filter(Boolean).join(" · "),
        line,
        count: all.length,
        worked: all.reduce((sum, one) => sum + one.worked_ms, 0),
      },
    ];
  });
}

const triesOf = ({ rounds, attempts, name }: TaskLine): string =>
  rounds > 1 && !name.includes("round ")
    ? `${rounds} rounds`
    : attempts > 1
      ? `${attempts} attempts`
      : "";

const ORDER: Partial<Record<TaskLine["state"], number>> = {
  failed: 0,
  canceled: 0,
  "waiting-for-person": 0,
  "not-run": 1,
};
const FIRST = 6;
/** Of a run that went well, so many lines are read; the others are one click away. */
const MANY = 30;

const isUneasy = ({ line }: Row) => line.answer == null && ORDER[line.state] !== undefined;

/** What went wrong comes first, and of a long list of the rest only some. */
export function sortedRows(report: Report): { shown: Row[]; rest: Row[] } {
  const rows = rowsOf(report.tasks);
  if (report.state !== "failed" && report.state !== "canceled") return folded(rows);
  const uneasy = rows
    .filter(isUneasy)
    .toSorted((one, two) => (ORDER[one.line.state] ?? 9) - (ORDER[two.line.state] ?? 9));
  const easy = rows.filter((row) => !isUneasy(row));
  const room = Math.max(FIRST - uneasy.length, 3);
  const rest = easy.length > room + 1 ? easy.slice(room) : [];
  return { shown: [...uneasy, ...easy.slice(0, easy.length - rest.length)], rest };
}

const goodWord = (rows: readonly Row[]): string =>
  rows.every((row) => row.line.state === "succeeded")
    ? "all succeeded"
    : "all succeeded or were not needed";

/** Those that have succeeded, beyond the first so many. */
function folded(rows: readonly Row[]): { shown: Row[]; rest: Row[] } {
  const rest = rows.slice(MANY).filter((row) => row.line.state === "succeeded");
  if (rest.length < 2) return { shown: [...rows], rest: [] };
  const hidden = new Set(rest);
  return { shown: rows.filter((row) => !hidden.has(row)), rest };
}

export function TaskLines({ report, onTask }: { report: Report; onTask: (work: number) => void }) {
  const all = useSignal(false);
  const { shown, rest } = sortedRows(report);
  const rows = all.value ? [...shown, ...rest] : shown;
  return (
    <Part title="What each task concluded" aside={countsOf(report.tasks)}>
      <ol class="concl">
        {rows.map((row) => (
          <Line key={row.key} row={row} onTask={onTask} />
        ))}
      </ol>
      {rest.length > 0 && (
        <button
          type="button"
          class="btn ghost sm morebtn"
          aria-expanded={all.value}
          onClick={() => {
            all.value = !all.value;
          }}
        >
          <Icon name={all.value ? "down" : "right"} size="s" />
          {all.value
            ? "Show fewer"
            : `Show the other ${rest.length.toLocaleString("en")}: ${goodWord(rest)}`}
        </button>
      )}
    </Part>
  );
}

function Line({ row, onTask }: { row: Row; onTask: (work: number) => void }) {
  const { line } = row;
  const { look, icon, word } = line.answer == null ? LOOKS[line.state] : ANSWERED;
  const never = line.rounds === 0;
  return (
    <li>
      <span class={`sti ${look}`} title={word}>
        <Icon name={icon} />
        <span class="vh">{word}</span>
      </span>
      <span class="who">
        <button type="button" class="plain" onClick={() => onTask(line.work)}>
          {visible(row.name)}
        </button>{" "}
        {row.extra !== "" && <small>· {visible(row.extra)}</small>}
      </span>
      <span class={never ? "skipd" : ""}>
        {line.answer != null && <span class="tf">{String(line.answer)}</span>}
        <Inline text={line.conclusion} />
      </span>
      <span class="num">{never ? "–" : duration(row.worked)}</span>
    </li>
  );
}

export function countsOf(lines: readonly TaskLine[]): string {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const word = (line.answer == null ? LOOKS[line.state] : LOOKS.succeeded).word.toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}
