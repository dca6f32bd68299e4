/** A long text behind its first lines. */

import { useState } from "preact/hooks";
import { visibleLines, visibleProse } from "../words";
import { folded } from "./folded";

type Props = {
  text: string;
  lines?: number;
  label?: string;
  /** It counts letter by letter: what a tool is called with. */
  exact?: boolean;
};

export function Fold({ text, lines = 12, label = "Text", exact = false }: Props) {
  const [open, setOpen] = useState(false);
  const part = folded(text, lines);
  const whole = part.characters === 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard */}
      <pre class="code" role="group" tabIndex={0} aria-label={label}>
        {(exact ? visibleLines : visibleProse)(open ? text : part.shown)}
      </pre>
      {!whole && (
        <div class="fold-more">
          {!open && <span>{leftInWords(part.lines, part.characters)}</span>}
          <button
            type="button"
            class="btn ghost sm"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? "Show less" : "Show all"}
          </button>
        </div>
      )}
    </>
  );
}

function leftInWords(lines: number, characters: number): string {
  if (lines > 1) return `${lines.toLocaleString("en")} lines hidden`;
  return `${characters.toLocaleString("en")} characters hidden`;
}
