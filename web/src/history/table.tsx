/** The rows of the history, of which several can be chosen. */

import { fresh, now } from "../live/feed";
import { Status } from "../parts/status";
import { billed, cost, duration, fully, visible, visibleLines, when } from "../words";
import { addressOf, NO_FILTERS } from "./filters";
import { type Folded, lastPart, type Row } from "./rows";

type Props = {
  rows: readonly Folded[];
  chosen: ReadonlySet<string>;
  onChoose: (ids: readonly string[], on: boolean) => void;
  /** All places in this one are wanted. */
  onUnfold: (id: string) => void;
};

export function Table({ rows, chosen, onChoose, onUnfold }: Props) {
  const all = rows.length > 0 && rows.every(({ row }) => chosen.has(row.id));
  const stale = fresh.value.kind === "stale" || fresh.value.kind === "unreachable";
  return (
    <table class="tbl hist">
      <thead>
        <tr>
          <th>
            <input
              type="checkbox"
              aria-label="Select all shown"
              checked={all}
              onChange={() =>
                onChoose(
                  rows.map(({ row }) => row.id),
                  !all,
                )
              }
            />
          </th>
          <th>State</th>
          <th>Name</th>
          <th>Kind</th>
          <th class="opt">Folder</th>
          <th class="opt">Model</th>
          <th class="right">When</th>
          <th class="right" title="Working time, without waiting">
            Worked
          </th>
          <th class="right opt">Requests</th>
          <th class="right" title="In premium requests">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ row, more }) => (
          <tr key={row.key} class={chosen.has(row.id) ? "sel" : undefined}>
            <td>
              <input
                type="checkbox"
                aria-label={
                  row.found ? `Select ${row.name}, found in its transcript` : `Select ${row.name}`
                }
                checked={chosen.has(row.id)}
                onChange={(event) => onChoose([row.id], event.currentTarget.checked)}
              />
            </td>
            <td class="state nowrap">
              <Status state={row.state} stale={stale} />
            </td>
            <td class="name">
              {row.href === null ? (
                <span class="b">{row.name}</span>
              ) : (
                <a class="quiet b" href={row.href}>
                  {row.name}
                </a>
              )}
              {row.tags?.map((tag) => (
                <a key={tag} class="tag" href={addressOf({ ...NO_FILTERS, tag })}>
                  {visible(tag)}
                </a>
              ))}
              {row.waits !== undefined && <p class="small waits">{row.waits}</p>}
              {row.found && <Place found={row.found} />}
              {more > 0 && (
                <button type="button" class="btn ghost sm" onClick={() => onUnfold(row.id)}>
                  {more === 1 ? "1 more match" : `${more} more matches`}
                </button>
              )}
              {row.input !== undefined && row.input !== "" && (
                <div class="small muted cut asked-for" title={row.input}>
                  {row.input}
                </div>
              )}
            </td>
            <td class="muted kind">{row.found ? `${row.kind} · ${row.found.says}` : row.kind}</td>
            <td class="muted opt" title={row.folder}>
              {lastPart(row.folder)}
            </td>
            <td class="muted opt">{row.model}</td>
            <td class="right num at" title={fully(row.at)}>
              {when(row.at, now.value)}
            </td>
            <td class="right num took">{duration(row.worked(now.value))}</td>
            <td class="right num opt">{row.requests}</td>
            <td class="right num cost" title={cost(row.cost)}>
              {billed(row.cost)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Place({ found: { snippet } }: { found: NonNullable<Row["found"]> }) {
  return (
    <p class="snip">
      “{oneLine(snippet.before)}
      <mark>{visible(snippet.hit)}</mark>
      {oneLine(snippet.after)}”
    </p>
  );
}

/** Blanks at its ends stay: the words go on beside it. */
const oneLine = (text: string): string => visibleLines(text).replace(/\s+/g, " ");
