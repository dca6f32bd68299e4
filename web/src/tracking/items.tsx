/** The tasks of a wide part as a list: found by name or by what was said, what needs somebody first. */

import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { known } from "../live/feed";
import { Icon } from "../parts/icon";
import { Status } from "../parts/status";
import { requestsOf, workedIn } from "../state/figures";
import { duration, visible } from "../words";
import type { Step } from "./blocks";
import { Inline } from "./inline";
import { slowPast } from "./player";
import { type Look, lookOf, type Progress, requests, talliesOf } from "./states";

type Props = {
  steps: readonly Step[];
  progress: Progress;
  isOver: boolean;
  selected: number | null;
  onTask: (work: number) => void;
};

const ORDER: readonly Look[] = [
  "waiting for you",
  "failed",
  "running",
  "waiting",
  "canceled",
  "not started",
  "not run",
  "succeeded",
];
const MANY = 300;
/** So many that succeeded are one row below those that need somebody, or still go on. */
const FOLDED = 5;

export function Items({ steps, progress, isOver, selected, onTask }: Props) {
  const wanted = useSignal("");
  const only = useSignal<Look | null>(null);
  const most = useSignal(MANY);
  const unfolded = useSignal(false);
  const asListed = useSignal(false);
  const counts = talliesOf(steps, progress, isOver);
  const rows = useMemo(() => {
    const words = wanted.value.trim().toLowerCase();
    return steps
      .map((step) => {
        const last = progress.get(step.work)?.at(-1);
        return { step, last, look: lookOf(last, isOver) };
      })
      .filter(({ look }) => only.value === null || look === only.value)
      .filter(({ step, last }) =>
        `${step.name} ${last?.conclusion ?? ""}`.toLowerCase().includes(words),
      )
      .toSorted((one, two) =>
        asListed.value ? 0 : ORDER.indexOf(one.look) - ORDER.indexOf(two.look),
      );
  }, [steps, progress, isOver, wanted.value, only.value, asListed.value]);
  const order = (listed: boolean) => {
    asListed.value = listed;
  };
  const needy = rows.filter(({ look }) => look !== "succeeded");
  const isFolded =
    !unfolded.value &&
    !asListed.value &&
    only.value === null &&
    wanted.value === "" &&
    needy.length > 0 &&
    rows.length - needy.length >= FOLDED;
  const shown = isFolded ? needy : rows;
  const tasks = new Set(steps.map((step) => step.label));
  const title = `${tasks.size === 1 ? visible(steps[0]?.label ?? "") : "Tasks"} × ${steps.length}`;
  return (
    <>
      <div class="itemhead">
        <div class="row">
          <h2 class="mono grow">{title}</h2>
          <fieldset class="seg">
            <legend class="vh">Order</legend>
            <Order word="Needs you first" on={!asListed.value} onChoose={() => order(false)} />
            <Order word="As listed" on={asListed.value} onChoose={() => order(true)} />
          </fieldset>
        </div>
        <div class="finder">
          <Icon name="search" size="s" />
          <input
            class="input"
            type="search"
            aria-label={`Search ${steps.length} tasks`}
            placeholder={`Search ${steps.length} tasks by name or conclusion`}
            value={wanted.value}
            onInput={(event) => {
              wanted.value = event.currentTarget.value;
            }}
          />
        </div>
        <fieldset class="tally">
          <legend class="vh">State</legend>
          <Choice word="all" count={steps.length} look={null} only={only} />
          {ORDER.filter((look) => counts.has(look)).map((look) => (
            <Choice key={look} word={look} count={counts.get(look) ?? 0} look={look} only={only} />
          ))}
        </fieldset>
      </div>
      <div class="items">
        <table class="tbl">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col" class="c2">
                Task
              </th>
              <th scope="col">Conclusion</th>
              <th scope="col" class="c4">
                Time
              </th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most.value).map(({ step, last, look }) => (
              <tr key={step.key} class={step.work === selected ? "sel" : ""}>
                <td>
                  <Status state={look} />
                </td>
                <td class="c2 cut">
                  <button type="button" class="plain" onClick={() => onTask(step.work)}>
                    {visible(step.name)}
                  </button>
                </td>
                <td class="cut">
                  <Inline text={last?.conclusion || (last?.waits_for ?? "")} />
                </td>
                <td class="num c4">
                  {last === undefined
                    ? "–"
                    : duration(workedIn(last, slowPast.value ?? known.value))}
                </td>
                <td class="num">{last === undefined ? "–" : requests(requestsOf(last.usage))}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="pad muted">No matching tasks.</p>}
        {shown.length < rows.length && (
          <button
            type="button"
            class="btn ghost sm morebtn"
            aria-expanded={false}
            onClick={() => {
              unfolded.value = true;
            }}
          >
            <Icon name="right" size="s" />
            {(rows.length - shown.length).toLocaleString("en")} succeeded
          </button>
        )}
        {shown.length > most.value && (
          <button
            type="button"
            class="btn ghost sm"
            onClick={() => {
              most.value += MANY;
            }}
          >
            Show more of {shown.length}
          </button>
        )}
      </div>
    </>
  );
}

type OrderProps = { word: string; on: boolean; onChoose: () => void };

const Order = ({ word, on, onChoose }: OrderProps) => (
  <button type="button" aria-pressed={on} onClick={onChoose}>
    {word}
  </button>
);

type ChoiceProps = { word: string; count: number; look: Look | null; only: Signal<Look | null> };

function Choice({ word, count, look, only }: ChoiceProps) {
  return (
    <button
      type="button"
      aria-pressed={only.value === look}
      onClick={() => {
        only.value = look;
      }}
    >
      {word.charAt(0).toUpperCase() + word.slice(1)} <b>{count}</b>
    </button>
  );
}
