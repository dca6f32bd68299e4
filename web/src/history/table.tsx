/** The rows of the history, of which several can be chosen. */

import { fresh, now } from "../live/feed";
import { Status } from "../parts/status";
import { duration, fully, visible, when } from "../words";
import { lastPart, type Row } from "./rows";

type Props = {
  rows: readonly Row[];
  chosen: ReadonlySet<string>;
  onChoose: (ids: readonly string[], on: boolean) => void;
};

export function Table({ rows, chosen, onChoose }: Props) {
  const all = rows.length > 0 && rows.every(({ id }) => chosen.has(id));
  const stale = fresh.value.kind === "stale" || fresh.value.kind === "unreachable";
  return (
    <table class="tbl hist">
      <thead>
        <tr>
          <th>
            <input
              type="checkbox"
              aria-label="Select all that are shown"
              checked={all}
              onChange={() =>
                onChoose(
                  rows.map(({ id }) => id),
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
          <th class="right">Started</th>
          <th class="right">Took</th>
          <th class="right">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} class={chosen.has(row.id) ? "sel" : undefined}>
            <td>
              <input
                type="checkbox"
                aria-label={`Select ${row.name}`}
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
                <span key={tag} class="tag">
                  {visible(tag)}
                </span>
              ))}
              {row.input !== undefined && row.input !== "" && (
                <div class="small muted cut asked-for" title={row.input}>
                  {row.input}
                </div>
              )}
            </td>
            <td class="muted kind">{row.kind}</td>
            <td class="muted opt" title={row.folder}>
              {lastPart(row.folder)}
            </td>
            <td class="muted opt">{row.model}</td>
            <td class="right num at" title={fully(row.at)}>
              {when(row.at, now.value)}
            </td>
            <td class="right num took">{duration((row.ended ?? now.value) - row.at)}</td>
            <td class="right num cost">{row.cost}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
