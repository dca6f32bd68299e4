/** A text with numbers before its lines, in its colours where its language is known. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleLines } from "../words";
import { languageOf, linesOf, type Run } from "./coloured";
import { colouredIn } from "./scribe";

type Props = {
  text: string;
  path: string;
  label: string;
  /** The number of the first line. */
  first?: number;
  /** The line to show, in the text's own numbers. */
  at?: number | null;
};

/** More lines than these would hold the page. */
const MOST = 4_000;
const AROUND = 200;

export function Code({ text, path, label, first = 1, at = null }: Props) {
  const lines = text.replace(/\n$/, "").split("\n");
  const [whole, open] = useState(false);
  const colours = useColours(text, path);
  const marked = useRef<HTMLLIElement>(null);
  const place = at === null ? null : at - first;
  const from = whole || place === null || place < MOST ? 0 : place - AROUND;
  const shown = lines.slice(from, whole ? undefined : from + MOST);
  useLayoutEffect(() => {
    marked.current?.scrollIntoView({ block: "center" });
  }, [at, path]);
  return (
    <>
      <ol
        class="codelines"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        tabIndex={0}
        aria-label={label}
      >
        {shown.map((line, row) => {
          const number = from + row + first;
          const runs = colours?.[from + row];
          const isMarked = number === at;
          return (
            <li key={number} class={isMarked ? "at" : undefined} ref={isMarked ? marked : null}>
              <i>{number}</i>
              <span>{runs === undefined ? visibleLines(line) : runs.map(drawn)}</span>
            </li>
          );
        })}
      </ol>
      {shown.length < lines.length && (
        <div class="fold-more">
          <span>{(lines.length - shown.length).toLocaleString("en")} lines hidden</span>
          <button type="button" class="btn ghost sm" onClick={() => open(true)}>
            Show all
          </button>
        </div>
      )}
    </>
  );
}

const drawn = ({ text, look }: Run, place: number) =>
  look === "" ? (
    visibleLines(text)
  ) : (
    <span key={place} class={look}>
      {visibleLines(text)}
    </span>
  );

function useColours(text: string, path: string): Run[][] | null {
  const [colours, set] = useState<{ of: string; lines: Run[][] } | null>(null);
  useEffect(() => {
    let gone = false;
    const language = languageOf(path);
    if (language === null) return;
    void colouredIn(text, language).then((html) => {
      if (!gone && html !== null) set({ of: text, lines: linesOf(html) });
    });
    return () => {
      gone = true;
    };
  }, [text, path]);
  return colours?.of === text ? colours.lines : null;
}
