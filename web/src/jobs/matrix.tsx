/** The jobs, in the grid that the entry gives them. */

import type { JobStats } from "../api/types.gen";
import { fresh, now } from "../live/feed";
import { Icon, type IconName } from "../parts/icon";
import { ago, fully, span, stateOf, visible } from "../words";
import type { Cell, Grid } from "./grid";

type Props = { grid: Grid; chosen: string | null; onChoose: (job: string) => void };

export function Matrix({ grid, chosen, onChoose }: Props) {
  return (
    <div class="mx" style={{ "--columns": grid.columns }}>
      {grid.rows.map((row, at) => (
        // a fieldset cannot lie in its parent's grid
        <div key={at} class="mx-row" role="group" aria-label={visible(row.keyword) || "Other"}>
          <div class="kw">{visible(row.keyword)}</div>
          {Array.from({ length: grid.columns }, (_, column) => {
            const cell = row.cells[column] ?? null;
            if (cell === null) return <div key={column} class="nil" />;
            return (
              <JobButton
                key={column}
                cell={cell}
                pressed={cell.job.name === chosen}
                onChoose={onChoose}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}

type ButtonProps = { cell: Cell; pressed: boolean; onChoose: (job: string) => void };

function JobButton({ cell, pressed, onChoose }: ButtonProps) {
  const { stats } = cell.job;
  return (
    <button
      type="button"
      class="job"
      aria-pressed={pressed}
      onClick={() => onChoose(cell.job.name)}
    >
      <b>{visible(cell.name)}</b>
      {cell.job.description && (
        <span class="about">{visible(firstLine(cell.job.description))}</span>
      )}
      <Last stats={stats} />
      {stats.usual_ms != null && <span class="ft">usually {span(stats.usual_ms)}</span>}
      <Now stats={stats} />
    </button>
  );
}

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

const LOOKS: Record<string, { look: string; icon: IconName }> = {
  succeeded: { look: "ok", icon: "tick" },
  failed: { look: "bad", icon: "cross" },
  canceled: { look: "cx", icon: "slashed" },
};

function Last({ stats: { last, running, waiting_for_person } }: { stats: JobStats }) {
  if (last == null) {
    return running + waiting_for_person > 0 ? null : (
      <span class="none">
        <Icon name="minus" size="s" />
        Never run
      </span>
    );
  }
  const { look, icon } = LOOKS[last.state] ?? { look: "cx", icon: "slashed" };
  return (
    <span class={look} title={fully(last.at)}>
      <Icon name={icon} size="s" />
      {stateOf(last.state, false).word} {ago(last.at, now.value)}
    </span>
  );
}

function Now({ stats }: { stats: JobStats }) {
  const waiting = stats.waiting_for_person;
  const stale = fresh.value.kind === "stale" || fresh.value.kind === "unreachable";
  return (
    <>
      {waiting > 0 && (
        <span class="you b">
          <Icon name="hand" size="s" />
          {waiting === 1 ? "waiting for you" : `${waiting} waiting for you`}
        </span>
      )}
      {stats.running > 0 && (
        <span class="run b">
          <Icon name={stale ? "broken" : "play"} size="s" />
          {stale ? `stale, was ${stats.running} running` : `${stats.running} running`}
        </span>
      )}
    </>
  );
}
