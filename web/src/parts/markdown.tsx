/** Shows markdown that others wrote, also while it is still being written. Until it is ready, and
 *  where it cannot be, the text stands as it is. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleProse } from "../words";
import { closedMarkdown } from "./open-markdown";
import { wasWritten, writtenDown } from "./scribe";

export { looksLikeMarkdown } from "./markdown_hint";

/** Longer ones are shown as they are: a page must not freeze over a text. */
export const MOST_MARKDOWN = 200_000;

type Props = {
  text: string;
  /** The level of its highest heading. */
  top?: number;
  /** It is still being written: what is open in it is closed, and a mark stands at its end. */
  live?: boolean;
};

export function Markdown({ text, top = 3, live = false }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const long = text.length > MOST_MARKDOWN;
  const drawn = useDrawing(place, live ? closedMarkdown(text) : text, top, long);
  useLayoutEffect(() => markEnd(place.current, live && drawn));
  return (
    <>
      {long && <p class="hint">This text is too long to show as Markdown.</p>}
      {long && <Raw text={text} />}
      {!drawn && !long && <div class="prose lines">{visibleProse(text)}</div>}
      <div class="prose" ref={place} hidden={long} />
    </>
  );
}

/** While one text is drawn the next ones wait, and of those only the last is drawn. */
function useDrawing(
  place: RefObject<HTMLDivElement | null>,
  text: string,
  top: number,
  long: boolean,
): boolean {
  const [drawn, draw] = useState(false);
  const state = useRef({ wanted: text, busy: false, gone: false });
  state.current.wanted = text;

  const show = (html: string | null): number => {
    const before = performance.now();
    if (place.current === null || html === null || sanitized === null) return 0;
    sanitized.redraw(place.current, html);
    draw(true);
    return performance.now() - before;
  };
  async function work(): Promise<void> {
    const mine = state.current;
    if (mine.busy) return;
    mine.busy = true;
    let last: string | null = null;
    while (!mine.gone && mine.wanted !== last) {
      last = mine.wanted;
      const [html] = await Promise.all([writtenDown(last, top), opened()]);
      if (mine.gone) break;
      const spent = show(html);
      // Who reads comes first: drawing takes a part of the time only.
      if (mine.wanted !== last) await new Promise((go) => setTimeout(go, 16 + 3 * spent));
    }
    mine.busy = false;
  }
  useLayoutEffect(() => {
    const known = wasWritten(text, top);
    if (long) return;
    if (known !== null && sanitized !== null && !state.current.busy) show(known);
    else void work();
  }, [text, top, long]);
  useEffect(() => {
    state.current.gone = false;
    return () => {
      state.current.gone = true;
      if (place.current !== null) sanitized?.forget(place.current);
    };
  }, []);
  return drawn;
}

/** A mark behind the last word. It is taken away before the text is drawn again. */
function markEnd(place: HTMLElement | null, wanted: boolean): void {
  const known = place?.querySelector(":scope .caret");
  if (!wanted || place === null) {
    known?.remove();
    return;
  }
  let last: Element = place;
  while (
    last.lastElementChild &&
    !/^(SPAN|CODE|A|STRONG|EM|DEL)$/.test(last.lastElementChild.tagName)
  ) {
    last = last.lastElementChild;
  }
  if (known?.parentElement === last && last.lastElementChild === known) return;
  known?.remove();
  const mark = document.createElement("span");
  mark.className = "caret";
  last.append(mark);
}

let sanitized: typeof import("./sanitized") | null = null;

/** Kept: what was shown once is there at once when it is shown again. */
async function opened(): Promise<void> {
  try {
    sanitized ??= await import("./sanitized");
  } catch {
    // A chunk that does not come leaves the text as it is.
  }
}

export function Raw({ text }: { text: string }) {
  return <pre class="raw">{visibleProse(text)}</pre>;
}
