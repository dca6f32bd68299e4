/** A session's blocks in order. Of a long conversation only those around the view are in the page. */

import "./conversation.css";
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Keys, useKeys } from "../keys";
import { Icon } from "../parts/icon";
import type { Block, SessionState } from "../state/types";
import { BlockView } from "./block";
import { Follow } from "./follow";
import { Home, Remembered, Remembering } from "./remember";
import { firstLine, opensItself } from "./said";

type Props = {
  session: SessionState;
  label?: string;
  /** Where to begin: at the block that holds this seq. Else at the end. */
  at?: number | null;
  /** Goes to the end whenever this is another number: who has just asked wants to see the answer. */
  asked?: number;
  /** Whether J and K go from block to block, wherever the focus is outside of a text field. */
  keys?: boolean;
  /** What stands behind the last block. */
  children?: ComponentChildren;
};

export function Conversation({
  session,
  label = "Conversation",
  at,
  asked,
  keys,
  children,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const follow = useMemo(() => new Follow(), []);
  const memory = useMemo(() => new Remembered(), []);
  const { blocks, order } = session;

  useLayoutEffect(() => {
    if (box.current && inside.current) return follow.attach(box.current, inside.current);
    return undefined;
  }, [follow]);
  useLayoutEffect(() => follow.settle());
  useBeginning(follow, session, at ?? null);
  useAsked(follow, asked ?? 0);
  useKeys(keys ? { j: () => follow.step(1), k: () => follow.step(-1) } : NO_KEYS);

  follow.drawn.value; // asks to be drawn again when the view comes near to the end of what is drawn
  const span = follow.span(order, (id) => guess(blocks.get(id)));
  const shown = order.slice(span.first, span.end);
  return (
    <Remembering.Provider value={memory}>
      <Home.Provider value={session.view?.id ?? null}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too */}
        <div class="conv" ref={box} role="log" aria-label={label} aria-live="off" tabIndex={0}>
          <div class="conv-in" ref={inside}>
            <Space height={span.above} />
            {shown.map((id) => {
              const block = blocks.get(id);
              return block && <Kept key={id} block={block} blocks={blocks} />;
            })}
            <Space height={span.below} />
            {children}
          </div>
        </div>
        <ToEnd follow={follow} />
        <Announced session={session} />
      </Home.Provider>
    </Remembering.Provider>
  );
}

const NO_KEYS: Keys = {};

type KeptProps = { block: Block; blocks: ReadonlyMap<string, Block> };

/** Drawn again only when its block changed, or what its tool called. */
function Kept({ block, blocks }: KeptProps) {
  const has = block.kind === "tool" && block.children.length > 0;
  const view = useMemo(
    () => <BlockView block={block} blocks={blocks} />,
    [block, has ? blocks : null],
  );
  return <div data-block={block.id}>{view}</div>;
}

const Space = ({ height }: { height: number }) => (
  <div aria-hidden="true" style={{ height: `${height}px` }} />
);

const CLOSED = 44;
const OPEN = 132;
const guess = (block: Block | undefined): number =>
  block !== undefined && opensItself(block) ? OPEN : CLOSED;

function ToEnd({ follow }: { follow: Follow }) {
  const words = useComputed(() => {
    const missed = follow.missed.value;
    return missed === 0 ? "Go to the end" : `${missed} new below`;
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

/** Goes once to the block that holds a seq, as soon as it is there. */
function useBeginning(follow: Follow, { blocks, order }: SessionState, at: number | null): void {
  const done = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (at === null || done.current === at) return;
    const later = order.findIndex((id) => (blocks.get(id)?.seq ?? 0) > at);
    const id = order[later < 0 ? order.length - 1 : Math.max(0, later - 1)];
    if (id === undefined) return;
    done.current = at;
    follow.goTo(id);
  }, [follow, blocks, order, at]);
}

function useAsked(follow: Follow, asked: number): void {
  const known = useRef(asked);
  useEffect(() => {
    if (known.current !== asked) follow.toEnd();
    known.current = asked;
  }, [follow, asked]);
}
