/** Who decided what, and what took how long. */

import type { PersonsDecision, Report } from "../api/types.gen";
import { Icon, type IconName } from "../parts/icon";
import { requestsOf as usedRequests } from "../state/figures";
import { clock, duration, fully, visible } from "../words";
import { Part } from "./report-part";
import { type Row, rowsOf } from "./report-tasks";

const OUTCOMES: Record<string, [string, IconName]> = {
  "allow-once": ["Allowed once", "hand"],
  "allow-always": ["Always allowed", "hand"],
  deny: ["Denied", "hand"],
  answered: ["Answered", "chat"],
  declined: ["Declined", "chat"],
  "go-on": ["Allowed to continue", "hand"],
  timeout: ["Timed out", "clock"],
  cancelled: ["Withdrawn", "slashed"],
};

export function Decisions({ report }: { report: Report }) {
  const { people, allowed, denied, by, more } = report.decisions;
  const counted = allowed + denied;
  return (
    <Part title="Who decided what">
      <ul class="decs">
        {people.map((one) => (
          <Decision key={`${one.at} ${one.what}`} one={one} />
        ))}
        {counted > 0 && (
          <li>
            <Icon name="shield" />
            <div>
              {allowed === 1 ? "1 call" : `${allowed} calls`} allowed, {denied || "none"} denied
              <small>
                by{" "}
                {Object.entries(by)
                  .slice(0, 4)
                  .map(([name, count]) => `${visible(name)} (${count})`)
                  .join(", ")}
              </small>
            </div>
          </li>
        )}
        {people.length === 0 && counted === 0 && <li class="none">No decisions were needed.</li>}
        {more && <li class="none">Not all decisions are shown.</li>}
      </ul>
    </Part>
  );
}

function Decision({ one }: { one: PersonsDecision }) {
  const [word, icon] = OUTCOMES[one.outcome] ?? [one.outcome, "hand"];
  const isAnswer = one.outcome === "answered";
  return (
    <li>
      <Icon name={icon} />
      <div>
        {isAnswer ? (
          <>
            “{visible(one.what)}” <b>{visible(one.answer ?? "")}</b>
          </>
        ) : (
          <>
            {word}: <code>{visible(one.what)}</code>
          </>
        )}
        <small>
          {one.who == null ? "Nobody" : visible(one.who)}, for {visible(one.task)}. Waited{" "}
          {duration(one.waited_ms)}.
        </small>
      </div>
      <span class="num" title={fully(one.at)}>
        {clock(one.at)}
      </span>
    </li>
  );
}

const LONGEST = 8;

export function Times({ report }: { report: Report }) {
  const rows = rowsOf(report.tasks)
    .filter((row) => row.line.rounds > 0)
    .toSorted((one, two) => two.worked - one.worked);
  const shown = rows.slice(0, rows.length > LONGEST + 1 ? LONGEST : rows.length);
  const others = rows.slice(shown.length);
  const most = Math.max(1, ...shown.map((row) => row.worked + waitedOf(row)));
  const sum = (all: readonly Row[], of: (row: Row) => number) =>
    all.reduce((total, row) => total + of(row), 0);
  return (
    <Part title="Time and cost by task">
      <ul class="bars">
        <li class="th">
          <span>Task</span>
          <span class="key">
            <svg viewBox="0 0 18 10" aria-hidden="true">
              <defs>
                <pattern
                  id="hb"
                  width="5"
                  height="5"
                  patternUnits="userSpaceOnUse"
                  patternTransform="rotate(45)"
                >
                  <path class="hl" d="M0 0V5" />
                </pattern>
              </defs>
              <rect class="hatch" x=".5" y=".5" width="17" height="9" rx="2" />
            </svg>
            waited for you
          </span>
          <span class="num">Time</span>
          <span class="num">Req.</span>
        </li>
        {shown.map((row) => (
          <li key={row.key}>
            <span class="mono cut" title={visible(row.line.name)}>
              {visible(row.count > 1 ? row.name : row.line.name)}
            </span>
            <Bar row={row} most={most} />
            <span class="num">{duration(row.worked)}</span>
            <span class="num">{requestsOf(report, row)}</span>
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <span>{others.length} others</span>
            <span />
            <span class="num">{duration(sum(others, (row) => row.worked))}</span>
            <span class="num">{sum(others, (row) => requestsOf(report, row))}</span>
          </li>
        )}
        <li class="sum">
          <span>Total</span>
          <span />
          <span class="num">{duration(report.worked_ms)}</span>
          <span class="num">{usedRequests(report.usage)}</span>
        </li>
      </ul>
    </Part>
  );
}

const waitedOf = ({ line }: Row) => line.waited_for_person_ms;

/** Of all lines that the row stands for. */
function requestsOf(report: Report, { line, count }: Row): number {
  if (count === 1) return usedRequests(line.usage);
  return report.tasks
    .filter((one) => one.task === line.task && one.state === line.state)
    .reduce((sum, one) => sum + usedRequests(one.usage), 0);
}

function Bar({ row, most }: { row: Row; most: number }) {
  const part = (ms: number) => `${(100 * ms) / most}%`;
  const { line } = row;
  const look = line.is_condition ? "c" : line.state === "failed" ? "bad" : "v";
  const waited = waitedOf(row);
  return (
    <svg aria-hidden="true">
      {waited > 0 && (
        <rect class="hatch" x={part(row.worked)} y=".5" width={part(waited)} height="9" rx="2" />
      )}
      <rect class={look} x=".5" y=".5" width={part(row.worked)} height="9" rx="2" />
    </svg>
  );
}
