/** What waits, by risk and age: a row for each group, and on a narrow page what is open under its row. */

import type { ComponentChildren } from "preact";
import { now } from "../live/feed";
import { iconOf, titleOf, untilWhen } from "../parts/asking";
import { Icon } from "../parts/icon";
import { useOrigin } from "../parts/origin";
import { fully, span } from "../words";
import { originInWords } from "./about";
import { type Group, type Risk, sectionsOf } from "./groups";

const RISKS: Record<Risk, string> = {
  high: "High risk",
  medium: "Medium risk",
  low: "Low risk",
  none: "Questions and limits",
};

type Props = {
  groups: readonly Group[];
  shown: string | null;
  onPick: (group: Group) => void;
  /** What is open, where it stands under its row. */
  inPlace: ComponentChildren;
};

export function List({ groups, shown, onPick, inPlace }: Props) {
  return (
    <div class="list panel">
      {sectionsOf(groups).map(({ risk, groups: mine, count }) => (
        <section key={risk} aria-labelledby={`risk-${risk}`}>
          <h2 id={`risk-${risk}`} class={`risk-head ${risk}`}>
            <span class="grow">{RISKS[risk]}</span>
            <span class="num faint">{count}</span>
          </h2>
          <ul>
            {mine.map((group) => (
              <Row
                key={group.id}
                group={group}
                on={group.id === shown}
                onPick={() => onPick(group)}
              >
                {group.id === shown && inPlace}
              </Row>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

type RowProps = { group: Group; on: boolean; onPick: () => void; children: ComponentChildren };

function Row({ group: { items }, on, onPick, children }: RowProps) {
  const [first] = items;
  const origin = useOrigin(first);
  const many = items.length > 1;
  return (
    <li class={on ? "item sel" : "item"}>
      <button type="button" class="pick" aria-current={on ? "true" : undefined} onClick={onPick}>
        <Icon name={iconOf(first.asked)} />
        <span class="grow">
          <b>{titleOf(first.asked)}</b>
          <span class="small muted cut block">
            {many ? comesFrom(items) : originInWords(origin)}
          </span>
          <span class="small faint num block" title={fully(first.asked_at)}>
            {many
              ? `oldest ${span(now.value - first.asked_at)}`
              : `${untilWhen(first.asked, first.asked_at, now.value)} · ${span(now.value - first.asked_at)}`}
          </span>
        </span>
        {many && (
          <span class="times">
            <span aria-hidden="true">× {items.length}</span>
            <span class="vh">{items.length} identical requests</span>
          </span>
        )}
      </button>
      {children}
    </li>
  );
}

const counted = (count: number, word: string): string =>
  `${count} ${count === 1 ? word : `${word}s`}`;

/** “2 runs and 3 sessions”. */
function comesFrom(items: Group["items"]): string {
  const runs = new Set(items.flatMap(({ run }) => (run == null ? [] : [run]))).size;
  const sessions = new Set(items.flatMap(({ run, session }) => (run == null ? [session] : [])))
    .size;
  return [runs > 0 && counted(runs, "run"), sessions > 0 && counted(sessions, "session")]
    .filter((words) => words !== false)
    .join(" and ");
}
