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
    return safe.length > MOST_COLOURED ? safe : coloured(safe);
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
        {shown !== text && "\n… The rest is left out here; Copy has all of it."}
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
  const line = flat(value);
  if (line.length + indent.length <= WIDE || typeof value !== "object" || value === null) {
    return line;
  }
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

function flat(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.map(flat).join(", ")} ]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}: ${flat(field)}`,
  );
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
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
