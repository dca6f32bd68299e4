/** Lines of a file that somebody has marked, to go with their next message. */

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visibleWhole } from "../words";
import { linesBetween, type Marked, rangeOf } from "./marked";

/** What takes them; null where nothing can be sent. */
export const TakesSelection = createContext<((marked: Marked) => void) | null>(null);

const NOTHING = "Select some lines of the file first, then press this button again.";

/** Reads what is marked in the lines of the file beside it. */
export function AttachSelection({ path, text }: { path: string; text: string }) {
  const take = useContext(TakesSelection);
  const [hint, tell] = useState<string | null>(null);
  if (take === null) return null;
  const attach = () => {
    const range = rangeOf(window.getSelection());
    if (range === null) return tell(NOTHING);
    tell(null);
    take({ path, ...range, text: linesBetween(text, range) });
  };
  return (
    <>
      <button
        type="button"
        class="btn ghost sm"
        title="Attach the lines that you have selected to your next message"
        onMouseDown={(event) => event.preventDefault()} // else nothing is selected any more
        onClick={attach}
      >
        <Icon name="clip" size="s" />
        Attach selection
      </button>
      {hint !== null && (
        <span class="small muted" role="status">
          {hint}
        </span>
      )}
    </>
  );
}

/** How it is shown above the message box. */
export const markedWords = ({ path, firstLine, lastLine }: Marked): string =>
  `${visibleWhole(path)}, ${firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}-${lastLine}`}`;
