/** Shows markdown that others wrote. Until it is ready, and where it cannot be, the text stands as it is. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleProse } from "../words";
import { wasWritten, writtenDown } from "./scribe";

export { looksLikeMarkdown } from "./markdown_hint";

/** Longer ones are shown as they are: a page must not freeze over a text. */
export const MOST_MARKDOWN = 200_000;

type Props = {
  text: string;
  /** The level of its highest heading. */
  top?: number;
};

export function Markdown({ text, top = 3 }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [drawn, draw] = useState(false);
  const long = text.length > MOST_MARKDOWN;
  useLayoutEffect(() => {
    let forget = () => {};
    let gone = false;
    const show = (html: string | null) => {
      if (gone || place.current === null || html === null || sanitized === null) return;
      const prose = sanitized.proseOf(html);
      forget = prose.forget;
      place.current.replaceChildren(prose.nodes);
      draw(true);
    };
    const known = wasWritten(text, top);
    if (known !== null && sanitized !== null) show(known);
    else if (!long)
      void Promise.all([writtenDown(text, top), opened()]).then(([html]) => show(html));
    return () => {
      gone = true;
      forget();
      place.current?.replaceChildren();
      draw(false);
    };
  }, [text, top, long]);
  return (
    <>
      {long && <p class="hint">This text is too long to be drawn as markdown.</p>}
      {!drawn && <Raw text={text} />}
      <div class="prose" ref={place} />
    </>
  );
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
