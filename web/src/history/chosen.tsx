/** What can be done with the rows that were chosen. */

import { useState } from "preact/hooks";
import { barred } from "../api/role";
import { Icon } from "../parts/icon";
import { useSaving } from "../parts/save";
import { visible } from "../words";
import { canRetry, type Row } from "./rows";

const FORMATS = { markdown: "Markdown", html: "HTML", jsonl: "JSON Lines (all events)" } as const;

type Props = { rows: readonly Row[]; onRetry: () => void; onDelete: () => void };

export function Chosen({ rows, onRetry, onDelete }: Props) {
  const [format, take] = useState<keyof typeof FORMATS>("markdown");
  const { saving, trouble, saveAll } = useSaving();
  // The older one is A.
  const areTwoRuns = rows.length === 2 && rows.every(({ source }) => source === "runs");
  const [first, second] = areTwoRuns
    ? rows.toSorted((one, two) => one.at - two.at).map(({ id }) => id)
    : [];
  const save = () =>
    saveAll(rows.map(({ id, source }) => `/api/v1/${source}/${id}/export?format=${format}`));
  return (
    <>
      <span class="small b" role="status">
        {rows.length} selected
      </span>
      {first !== undefined && second !== undefined && (
        <a class="btn sm primary" href={`/compare.html?a=${first}&b=${second}`}>
          <Icon name="parted" size="s" />
          Compare
        </a>
      )}
      <button type="button" class="btn sm" disabled={saving} onClick={() => void save()}>
        <Icon name="download" size="s" />
        {saving ? "Exporting…" : "Export"}
      </button>
      {trouble !== null && (
        <span class="trouble small" role="alert">
          {visible(trouble)}
        </span>
      )}
      <label class="check">
        as{" "}
        <select
          class="select chip"
          value={format}
          onChange={(event) => take(event.currentTarget.value as keyof typeof FORMATS)}
        >
          {Object.entries(FORMATS).map(([name, word]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {rows.every(canRetry) && (
        <button type="button" class="btn sm" {...barred("operate")} onClick={onRetry}>
          <Icon name="play" size="s" />
          Retry
        </button>
      )}
      <button type="button" class="btn danger sm" {...barred("own")} onClick={onDelete}>
        <Icon name="trash" size="s" />
        Delete
      </button>
    </>
  );
}
