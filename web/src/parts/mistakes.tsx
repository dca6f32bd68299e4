/** Every mistake of the entry's file: where it is, the lines around it, what to write instead. */

import type { EntryMistakes, Mistake, MistakeLine } from "../api/types.gen";
import { useList } from "../live/use";
import { visible, visibleLines } from "../words";
import { editAddress } from "./pages";

export const inAll = (count: number): string => (count === 1 ? "1 error" : `${count} errors`);

export const fileName = (path: string | null): string | null => path?.split(/[\\/]/).at(-1) ?? null;

/** The file with line and column, as editors and terminals take it. */
export function placeOf(file: string, { line, column }: Mistake): string {
  return [file, line, column].filter((part) => part != null).join(":");
}

export function Mistakes({ open }: { open: boolean }) {
  const { state, trouble } = useList<EntryMistakes>("/api/v1/entry/mistakes");
  const found = state.value;
  if (found === null)
    return trouble.value === null ? null : <p class="muted">{visible(trouble.value)}</p>;
  const file = fileName(found.path ?? null) ?? "";
  const left = found.mistakes - found.violations.length;
  if (found.mistakes === 0) return null;
  return (
    <details class="mistakes" open={open}>
      <summary>{`What to fix in ${visible(file)}`}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard */}
      <div class="list" role="region" tabIndex={0} aria-label={`Errors in ${visible(file)}`}>
        <ol>
          {found.violations.map((mistake, number) => (
            <OneMistake key={number} mistake={mistake} file={file} path={found.path ?? null} />
          ))}
        </ol>
        {left > 0 && (
          <p class="muted">
            These are the first {found.violations.length} of {found.mistakes} errors. Fix them to
            see the next ones, or run <code>airboss check</code> to list them all.
          </p>
        )}
      </div>
    </details>
  );
}

type OneProps = { mistake: Mistake; file: string; path: string | null };

function OneMistake({ mistake, file, path }: OneProps) {
  return (
    <li>
      <p>
        <a class="b mono" href={editAddress(path, mistake.line ?? null)} title="Open in the editor">
          {visible(placeOf(file, mistake))}
        </a>{" "}
        <span class="mono muted">{visible(mistake.where)}</span>
      </p>
      <p>{visible([mistake.reason, mistake.hint ?? ""].join(" "))}</p>
      {mistake.excerpt.length > 0 && (
        <pre class="code">
          {mistake.excerpt.map((line) => (
            <Line key={line.line} line={line} here={line.line === mistake.line} />
          ))}
        </pre>
      )}
      {mistake.advice != null && <p>{visible(mistake.advice)}</p>}
      {mistake.example != null && <pre class="code example">{visible(mistake.example)}</pre>}
    </li>
  );
}

function Line({ line, here }: { line: MistakeLine; here: boolean }) {
  return (
    <span class={here ? "at here" : "at"}>
      <span class="no">{line.line}</span>
      <span>
        {visibleLines(line.before)}
        {line.marked !== "" && <mark>{visibleLines(line.marked)}</mark>}
        {visibleLines(line.after)}
      </span>
    </span>
  );
}
