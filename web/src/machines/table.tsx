/** The machines, a row each; on a phone, a card each. */

import { barred } from "../api/role";
import type { WorkerFacts } from "../api/types.gen";
import { known } from "../live/feed";
import { Icon, type IconName } from "../parts/icon";
import { clockOffset, isOff, isSilent, lives } from "../parts/machine-words";
import { fully, visible } from "../words";
import { about, heard, type Look, lookOf } from "./shown";

const ICONS: Record<Look["look"], IconName> = {
  ok: "tick",
  stale: "broken",
  waiting: "clock",
  canceled: "slashed",
};

type Props = {
  rows: readonly WorkerFacts[];
  passed: number;
  isStale: boolean;
  /** Whether there are others that go on with what it has. */
  canDrain: boolean;
  selected: string | null;
  onSelect: (id: string) => void;
  onDrain: (one: WorkerFacts) => void;
};

export function Table({ rows, selected, onSelect, ...rest }: Props) {
  return (
    <table class="tbl fit fleet">
      <thead>
        <tr>
          <th>Machine</th>
          <th>State</th>
          <th>Last beat</th>
          <th>Slots</th>
          <th>Runs</th>
          <th>Version</th>
          <th>Clock</th>
          {rest.canDrain && (
            <th>
              <span class="vh">Work</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <Row
            key={one.id}
            one={one}
            isSelected={one.id === selected}
            onSelect={() => onSelect(one.id)}
            {...rest}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = Omit<Props, "rows" | "selected" | "onSelect"> & {
  one: WorkerFacts;
  isSelected: boolean;
  onSelect: () => void;
};

function Row({ one, passed, isStale, canDrain, isSelected, onSelect, onDrain }: RowProps) {
  const { look, word } = lookOf(one, isStale);
  const silent = isSilent(one);
  const count = one.runs.length;
  const noun = count === 1 ? "run" : "runs";
  return (
    <tr class={silent || one.state === "lost" ? "lost" : undefined}>
      <td>
        <b class="b">{visible(one.name)}</b>
        <small class="mono">{about(one)}</small>
      </td>
      <td>
        <span class={`st ${look}`}>
          <Icon name={ICONS[look]} />
          {word}
        </span>
      </td>
      <td class={silent ? "num beat old" : "num beat"} title={fully(one.seen_at)}>
        {heard(one, passed, known.value)}
      </td>
      <td>
        <Slots one={one} />
      </td>
      <td class="num">
        {count === 0 ? (
          <span class="opt">{lives(one) && one.slots > 0 ? 0 : "–"}</span>
        ) : (
          <button
            type="button"
            class="btn ghost sm"
            aria-pressed={isSelected}
            aria-label={`${count} ${noun}, show the runs of ${visible(one.name)}`}
            onClick={onSelect}
          >
            {count}
            <span class="phone-only"> {noun}</span>
          </button>
        )}
      </td>
      <td class="mono small opt">{visible(one.version)}</td>
      <td class="num small muted opt nowrap">
        {isOff(one.clock_offset_ms) && (
          <>
            <Icon name="warning" size="s" />
            <span class="vh">The clock is off: </span>{" "}
          </>
        )}
        {lives(one) ? clockOffset(one.clock_offset_ms) : "–"}
      </td>
      {canDrain && (
        <td class="right drain">
          {lives(one) && one.slots > 0 && !silent && <Drain one={one} onDrain={onDrain} />}
        </td>
      )}
    </tr>
  );
}

function Drain({ one, onDrain }: { one: WorkerFacts; onDrain: Props["onDrain"] }) {
  const drains = one.state === "draining";
  return (
    <button
      type="button"
      class="btn ghost sm"
      aria-label={
        drains ? `Let ${visible(one.name)} take work again` : `Drain ${visible(one.name)}`
      }
      title={drains ? undefined : "It takes no new work, and finishes the tasks that it works on."}
      {...barred("own")}
      onClick={() => onDrain(one)}
    >
      {drains ? "Take work again" : "Drain"}
    </button>
  );
}

function Slots({ one }: { one: WorkerFacts }) {
  if (!lives(one)) return <span class="small faint">–</span>;
  if (one.slots === 0) return <span class="small faint">does no work</span>;
  const words = `${one.slots_used} of ${one.slots}`;
  const width = Math.min(100, Math.round((one.slots_used / one.slots) * 100));
  return (
    <span class="slots">
      <svg
        class="meter"
        role="img"
        aria-label={`${words} slots`}
        preserveAspectRatio="none"
        viewBox="0 0 100 6"
      >
        <rect class="t" width="100" height="6" />
        <rect class="v" width={width} height="6" />
      </svg>
      <span class="num small">{words}</span>
    </span>
  );
}
