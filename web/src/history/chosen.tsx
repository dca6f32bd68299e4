/** What can be done with the rows that were chosen. */

import { useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import type { Row } from "./rows";

const FORMATS = { markdown: "Markdown", html: "Web page", jsonl: "Events, JSON Lines" } as const;

export function Chosen({ rows, onDelete }: { rows: readonly Row[]; onDelete: () => void }) {
  const [format, take] = useState<keyof typeof FORMATS>("markdown");
  const save = () => {
    for (const { id, source } of rows) {
      const link = document.createElement("a");
      link.href = `/api/v1/${source}/${id}/export?format=${format}`;
      link.download = "";
      link.click();
    }
  };
  return (
    <>
      <span class="small b" role="status">
        {rows.length} selected
      </span>
      <button type="button" class="btn sm" onClick={save}>
        <Icon name="download" size="s" />
        Export
      </button>
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
      <button type="button" class="btn danger sm" onClick={onDelete}>
        <Icon name="trash" size="s" />
        Delete
      </button>
    </>
  );
}
