/** What a command said: its last lines, all of it on demand. */

import { CopyButton } from "../../parts/copy";
import { visibleLines } from "../../words";
import { useChoice } from "../remember";

const LAST = 12;
/** A line can be a megabyte long. */
const MOST = 20_000;
/** Also on demand no more than this is put into the page. */
const MOST_OPEN = 500_000;

export type Ending = { shown: string; lines: number; of: number };

/** The last lines of a text. Pure. */
export function lastLines(text: string, most: number): Ending {
  const whole = text.replace(/\n+$/, "");
  const lines = whole === "" ? [] : whole.split("\n");
  const shown = lines.slice(-most).join("\n");
  return {
    shown: shown.length > MOST ? shown.slice(-MOST) : shown,
    lines: Math.min(most, lines.length),
    of: lines.length,
  };
}

export function Output({ id, text, running }: { id: string; text: string; running: boolean }) {
  const all = useChoice(id, "all");
  const end = lastLines(text, LAST);
  if (end.of === 0) return running ? null : <p class="none">No output.</p>;
  const isAll = all.value ?? false;
  const isCut = end.lines < end.of || end.shown.length >= MOST;
  return (
    <>
      <pre
        class="out"
        role="group"
        aria-label="Output"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        tabIndex={0}
      >
        {visibleLines(isAll ? text.slice(-MOST_OPEN) : end.shown)}
      </pre>
      <div class="more">
        {isCut && (
          <>
            <span>
              {isAll
                ? `${end.of.toLocaleString("en")} lines`
                : `Last ${end.lines} of ${end.of.toLocaleString("en")} lines`}
            </span>
            <button
              type="button"
              data-still
              aria-expanded={isAll}
              onClick={() => {
                all.value = !isAll;
              }}
            >
              {isAll ? "Show less" : "Show all"}
            </button>
          </>
        )}
        <CopyButton text={text} what="the output" />
      </div>
    </>
  );
}
