/** A text that somebody decides about, however long: its beginning and its end, and all of it on demand. */

import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { visibleLines } from "../words";
import { chunksOf, folded, gapInWords, type Kind, piecesOf, placesOf } from "./whole-text";

type Props = { text: string; kind: Kind; label: string };

export function Whole({ text, kind, label }: Props) {
  const [open, unfold] = useState(false);
  const short = useMemo(() => folded(text), [text]);
  if (short === null) return <Box text={text} kind={kind} label={label} first />;
  const turn = (
    <button type="button" class="btn ghost sm" aria-expanded={open} onClick={() => unfold(!open)}>
      {open ? "Show less" : "Show all"}
    </button>
  );
  if (open) {
    return (
      <Opened text={text} kind={kind} label={label}>
        {turn}
      </Opened>
    );
  }
  return (
    <div class="whole">
      <Box text={short.head} kind={kind} label={`${label}, beginning`} first />
      <div class="fold-more">
        <span>{short.gap === "" ? "Continues below" : gapInWords(short.gap, kind)}</span>
        {turn}
      </div>
      <Box text={short.tail} kind={kind} label={`${label}, end`} last />
    </div>
  );
}

type BoxProps = Props & { first?: boolean; last?: boolean };

function Box({ text, kind, label, first = false, last = false }: BoxProps) {
  const place = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (last && place.current !== null) place.current.scrollTop = place.current.scrollHeight;
  }, [text, last]);
  return (
    <pre
      ref={place}
      class={first && kind === "command" ? "code ask-command" : "code"}
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
      tabIndex={0}
      aria-label={label}
    >
      <Marked text={text} kind={kind} />
    </pre>
  );
}

type OpenedProps = Props & { children: preact.ComponentChildren };

/** All of it, of which only what is near is drawn: a megabyte of signs would hold the page. */
function Opened({ text, kind, label, children }: OpenedProps) {
  const box = useRef<HTMLPreElement>(null);
  const places = useMemo(() => chunksOf(text), [text]);
  const search = useSearch(text);
  const id = useId();
  return (
    <div class="whole">
      <div class="row wrap">
        <label class="small" for={id}>
          Search
        </label>
        <input
          id={id}
          type="search"
          class="input grow"
          value={search.wanted}
          onInput={(event) => search.want(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            search.step(event.shiftKey ? -1 : 1);
          }}
        />
        <span class="small muted num" role="status">
          {search.inWords}
        </span>
        {children}
      </div>
      <pre
        ref={box}
        class="code open"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with the keyboard
        tabIndex={0}
        aria-label={label}
      >
        {places.slice(1).map((end, place) => {
          const from = places[place] ?? 0;
          return (
            <Chunk
              key={from}
              text={text.slice(from, end)}
              kind={kind}
              box={box}
              hit={hitIn(search.hit, from, end)}
            />
          );
        })}
      </pre>
    </div>
  );
}

type Hit = { from: number; length: number };

const hitIn = (hit: Hit | null, from: number, end: number): Hit | null =>
  hit !== null && hit.from >= from && hit.from < end ? { ...hit, from: hit.from - from } : null;

function useSearch(text: string) {
  const [wanted, want] = useState("");
  const [at, go] = useState(0);
  const places = useMemo(() => placesOf(text, wanted), [text, wanted]);
  const from = places[at];
  const inWords =
    wanted === "" ? "" : places.length === 0 ? "No matches" : `${at + 1} of ${places.length}`;
  return {
    wanted,
    inWords,
    hit: useMemo(
      () => (from === undefined ? null : { from, length: wanted.length }),
      [from, wanted],
    ),
    want: (words: string) => {
      want(words);
      go(0);
    },
    step: (way: 1 | -1) => places.length > 0 && go((at + way + places.length) % places.length),
  };
}

const LINE_HEIGHT = 19;
const COLUMNS = 90;

type ChunkProps = {
  text: string;
  kind: Kind;
  box: RefObject<HTMLElement | null>;
  hit: Hit | null;
};

function Chunk({ text, kind, box, hit }: ChunkProps) {
  const place = useRef<HTMLDivElement>(null);
  const height = useRef(Math.ceil(text.length / COLUMNS) * LINE_HEIGHT);
  const [near, see] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watcher = new IntersectionObserver(
      ([seen]) => {
        if (seen === undefined) return;
        if (!seen.isIntersecting) height.current = seen.boundingClientRect.height;
        see(seen.isIntersecting);
      },
      { root: box.current, rootMargin: "600px" },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [box]);
  useEffect(() => {
    if (hit !== null)
      (place.current?.querySelector("mark") ?? place.current)?.scrollIntoView({ block: "nearest" });
  }, [hit?.from, hit?.length]);
  const drawn = near || hit !== null;
  return (
    <div ref={place} style={drawn ? undefined : { height: `${height.current}px` }}>
      {drawn && <Found text={text} kind={kind} hit={hit} />}
    </div>
  );
}

function Found({ text, kind, hit }: Pick<ChunkProps, "text" | "kind" | "hit">) {
  if (hit === null) return <Marked text={text} kind={kind} />;
  const end = hit.from + hit.length;
  return (
    <>
      <Marked text={text.slice(0, hit.from)} kind={kind} />
      <mark>{visibleLines(text.slice(hit.from, end))}</mark>
      <Marked text={text.slice(end)} kind={kind} />
    </>
  );
}

/** With what cannot be seen, and in a command all that begins another one. */
function Marked({ text, kind }: { text: string; kind: Kind }) {
  return (
    <>
      {piecesOf(text, kind).map((piece, place) =>
        piece.look === "" ? (
          visibleLines(piece.text)
        ) : (
          // the pieces of a text never change
          <span key={place} class={piece.look}>
            {piece.look === "sep" && piece.text === "\n" ? "⏎\n" : visibleLines(piece.text)}
          </span>
        ),
      )}
    </>
  );
}
