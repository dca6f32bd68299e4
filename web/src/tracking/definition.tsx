/** The job's definition and chart as formatted JSON, for when nothing is selected. */

import { useMemo } from "preact/hooks";
import type { RunJob } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { visibleLines } from "../words";

/** More is cut: a page of a hundred thousand lines helps nobody. */
const MOST = 100_000;
/** More is not coloured: each word would be an element. */
const MOST_COLOURED = 20_000;

export function Definition({ job }: { job: RunJob }) {
  const text = useMemo(() => textOf(job), [job]);
  const shown = text.length > MOST ? text.slice(0, MOST) : text;
  const parts = useMemo(() => {
    const safe = visibleLines(shown);
    return safe.length > MOST_COLOURED ? inPieces(safe) : coloured(safe);
  }, [shown]);
  return (
    <>
      <div class="nodehead">
        <div class="row">
          <h2>Definition and chart</h2>
          <span class="grow" />
          <button
            type="button"
            class="btn ghost sm"
            onClick={() => void navigator.clipboard?.writeText(text)}
          >
            <Icon name="copy" />
            Copy
          </button>
        </div>
        <p class="small muted">
          No task is selected. Click a task or a condition to see its sessions.
        </p>
      </div>
      <pre class="json" {...SCROLLS}>
        {parts}
        {shown !== text && "\n… The rest is not shown. Copy includes all of it."}
      </pre>
    </>
  );
}

/** What scrolls must be reached by keys. */
const SCROLLS = { tabIndex: 0, role: "region", "aria-label": "Definition and chart" } as const;

const textOf = ({ name, requireUserInput, work, chart }: RunJob): string =>
  formatted({ jobName: name, job: { requireUserInput, work }, chart });

const WIDE = 88;

/** What fits on a line stands on one. */
export function formatted(value: unknown, indent = ""): string {
  const line = flat(value, WIDE - indent.length);
  if (line !== null) return line;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${formatted(item, deeper)}`);
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `${deeper}${JSON.stringify(name)}: ${formatted(field, deeper)}`,
  );
  return `{\n${fields.join(",\n")}\n${indent}}`;
}

/** On one line; null as soon as there is no room for it, however much would follow. */
function flat(value: unknown, room: number): string | null {
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value) ?? "null";
    return text.length <= room ? text : null;
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts: string[] = [];
  let left = room - 4;
  for (const [name, part] of Object.entries(value)) {
    const head = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
    const text = flat(part, left - head.length);
    if (text === null) return null;
    parts.push(`${head}${text}`);
    left -= head.length + text.length + 2;
  }
  const line = parts.length === 0 ? `${open}${close}` : `${open} ${parts.join(", ")} ${close}`;
  return line.length <= room ? line : null;
}

const LINES = 200;

/** The browser lays out only the pieces that are in view. */
function inPieces(text: string) {
  const lines = text.split("\n");
  const pieces = [];
  for (let at = 0; at < lines.length; at += LINES) {
    const piece = lines.slice(at, at + LINES);
    pieces.push(
      <div key={at} class="piece" style={{ containIntrinsicSize: `auto ${piece.length}lh` }}>
        {`${piece.join("\n")}\n`}
      </div>,
    );
  }
  return pieces;
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null|-?\d+(?:\.\d+)?)\b/g;

function coloured(text: string) {
  const parts = [];
  let done = 0;
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > done) parts.push(text.slice(done, found.index));
    const [whole, string, colon] = found;
    const look = string === undefined ? "n" : colon === undefined ? "s" : "k";
    parts.push(
      <span key={found.index} class={look}>
        {string ?? whole}
      </span>,
    );
    if (colon !== undefined) parts.push(colon);
    done = found.index + whole.length;
  }
  parts.push(text.slice(done));
  return parts;
}
