/** A session's blocks in order. Of a long conversation only those around the view are in the page. */

import "./conversation.css";
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { WaitingCall } from "../api/types.gen";
import { type Keys, useKeys } from "../keys";
import { Icon } from "../parts/icon";
import type { SessionState } from "../state/types";
import { BlockView } from "./block";
import { FileDialog, type FilePlace, type Files, FilesOf } from "./file";
import { Follow } from "./follow";
import { Home, Remembered, Remembering } from "./remember";
import { firstLine, opensItself } from "./said";
import { Box, TodoList } from "./work/box";
import { FailureCard } from "./work/failure";
import { AroundCalls, WaitingCalls } from "./work/inner";
import { asksOf, type Piece, piecesOf } from "./work/pieces";

type Props = {
  session: SessionState;
  label?: string;
  /** Where to begin: at the block that holds this seq. Else at the end. */
  at?: number | null;
  /** Goes to the end whenever this is another number: who has just asked wants to see the answer. */
  asked?: number;
  /** Whether J and K go from block to block, wherever the focus is outside of a text field. */
  keys?: boolean;
  /** What opens a file of the session, where there is a place for it beside the conversation. */
  onFile?: (place: FilePlace) => void;
  /** What stands behind the last block. */
  children?: ComponentChildren;
};

export function Conversation({
  session,
  label = "Conversation",
  at,
  asked,
  keys,
  onFile,
  children,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const follow = useMemo(() => new Follow(), []);
  const memory = useMemo(() => new Remembered(), []);
  const { blocks, order } = session;
  const around = useMemo(() => ({ blocks, asks: asksOf(session) }), [blocks]);
  const pieces = useMemo(() => piecesOf(session, around.asks), [blocks, order]);
  const byId = useMemo(() => new Map(pieces.map((piece) => [piece.id, piece])), [pieces]);
  const ids = useMemo(() => pieces.map(({ id }) => id), [pieces]);
  const file = useSignal<FilePlace | null>(null);
  const { view } = session;
  const files = useMemo((): Files | null => {
    const open = (place: FilePlace) => {
      file.value = place;
    };
    return view && { session: view.id, folder: view.cwd, open: onFile ?? open };
  }, [view?.id, view?.cwd, onFile]);

  useLayoutEffect(() => {
    if (box.current && inside.current) return follow.attach(box.current, inside.current);
    return undefined;
  }, [follow]);
  useLayoutEffect(() => follow.settle());
  useBeginning(follow, pieces, at ?? null);
  useAsked(follow, asked ?? 0);
  useKeys(keys ? keysOf(follow) : NO_KEYS);

  follow.drawn.value; // asks to be drawn again when the view comes near to the end of what is drawn
  const span = follow.span(ids, (id) => guess(byId.get(id)));
  const shown = pieces.slice(span.first, span.end);
  return (
    <Remembering.Provider value={memory}>
      <Home.Provider value={view?.id ?? null}>
        <FilesOf.Provider value={files}>
          <AroundCalls.Provider value={around}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too */}
            <div class="conv" ref={box} role="log" aria-label={label} aria-live="off" tabIndex={0}>
              <div class="conv-in" ref={inside}>
                <Space height={span.above} />
                <WaitingCalls.Provider value={view?.waiting_calls ?? NOBODY}>
                  {shown.map((piece) => (
                    <Kept key={piece.id} piece={piece} />
                  ))}
                </WaitingCalls.Provider>
                <Space height={span.below} />
                {children}
              </div>
            </div>
            <ToEnd follow={follow} />
            <Announced session={session} />
            {file.value !== null && view !== null && (
              <FileDialog
                session={view.id}
                place={file.value}
                onClose={() => {
                  file.value = null;
                }}
              />
            )}
          </AroundCalls.Provider>
        </FilesOf.Provider>
      </Home.Provider>
    </Remembering.Provider>
  );
}

const NO_KEYS: Keys = {};
const NOBODY: readonly WaitingCall[] = [];

const keysOf = (follow: Follow): Keys => ({
  j: () => follow.step(1),
  k: () => follow.step(-1),
  o: () => follow.turn(),
  c: () => follow.copy(),
});

/** Drawn again only when it was told something. */
function Kept({ piece }: { piece: Piece }) {
  const before = useRef(piece);
  if (!isSame(before.current, piece)) before.current = piece;
  const kept = before.current;
  const view = useMemo(() => <PieceView piece={kept} />, [kept]);
  return <div data-block={piece.id}>{view}</div>;
}

function isSame(one: Piece, two: Piece): boolean {
  if (one.kind === "block") return two.kind === "block" && one.block === two.block;
  if (one.kind === "todo") return two.kind === "todo" && one.todos === two.todos;
  if (one.kind === "failure") {
    const isAsBefore = two.kind === "failure" && one.over === two.over;
    return isAsBefore && one.notes.length === two.notes.length;
  }
  if (one.kind !== "calls" || two.kind !== "calls") return false;
  return (
    one.calls.length === two.calls.length &&
    one.calls.every(({ tool, ask }, place) => {
      const other = two.calls[place];
      return tool === other?.tool && ask === other.ask;
    })
  );
}

function PieceView({ piece }: { piece: Piece }) {
  switch (piece.kind) {
    case "calls":
      return <Box calls={piece.calls} />;
    case "todo":
      return <TodoList id={piece.id} todos={piece.todos} />;
    case "failure":
      return <FailureCard failure={piece} />;
    default:
      return piece.block.kind === "tool" ? null : <BlockView block={piece.block} />;
  }
}

const Space = ({ height }: { height: number }) => (
  <div aria-hidden="true" style={{ height: `${height}px` }} />
);

const CLOSED = 44;
const OPEN = 132;
const ROW = 35;

function guess(piece: Piece | undefined): number {
  if (piece === undefined) return CLOSED;
  if (piece.kind === "calls") return OPEN + piece.calls.length * ROW;
  if (piece.kind === "todo") return ROW + piece.todos.length * 26;
  if (piece.kind === "failure") return OPEN;
  return opensItself(piece.block) ? OPEN : CLOSED;
}

function ToEnd({ follow }: { follow: Follow }) {
  const words = useComputed(() => {
    const missed = follow.missed.value;
    return missed === 0 ? "Jump to latest" : `${missed} new below`;
  });
  if (follow.atEnd.value) return null;
  return (
    <button type="button" class="btn sm to-end" onClick={() => follow.toEnd()}>
      <Icon name="down" size="s" />
      {words}
    </button>
  );
}

/** Long enough for a reader to take it up; the page's text is then what a fresh page's is. */
const HEARD_MS = 1_000;

/** Finished messages for those who listen, never a word at a time, and none of the past. */
function Announced({ session }: { session: SessionState }) {
  const words = useSignal("");
  const heard = useRef<number | null>(null);
  useEffect(() => {
    const ended = lastMessage(session);
    const seq = ended?.seq ?? 0;
    if (heard.current !== null && seq > heard.current && ended) {
      words.value = `Message: ${firstLine(ended.text)}`;
      setTimeout(() => {
        words.value = "";
      }, HEARD_MS);
    }
    if (session.view !== null) heard.current = Math.max(seq, heard.current ?? 0);
  }, [session, words]);
  return (
    <div class="vh" role="status">
      {words}
    </div>
  );
}

function lastMessage({ blocks, order }: SessionState) {
  for (let at = order.length - 1; at >= Math.max(0, order.length - 20); at -= 1) {
    const block = blocks.get(order[at] ?? "");
    if (block?.kind === "message" && !block.receiving) return block;
  }
  return null;
}

/** Goes once to the piece that holds a seq, as soon as it is there. */
function useBeginning(follow: Follow, pieces: readonly Piece[], at: number | null): void {
  const done = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (at === null || done.current === at) return;
    const later = pieces.findIndex((piece) => seqOf(piece) > at);
    const piece = pieces[later < 0 ? pieces.length - 1 : Math.max(0, later - 1)];
    if (piece === undefined) return;
    done.current = at;
    follow.goTo(piece.id);
  }, [follow, pieces, at]);
}

function seqOf(piece: Piece): number {
  if (piece.kind === "block") return piece.block.seq;
  if (piece.kind === "failure") return piece.notes[0]?.seq ?? 0;
  return piece.kind === "todo" ? piece.tool.seq : (piece.calls[0]?.tool.seq ?? 0);
}

function useAsked(follow: Follow, asked: number): void {
  const known = useRef(asked);
  useEffect(() => {
    if (known.current !== asked) follow.toEnd();
    known.current = asked;
  }, [follow, asked]);
}
