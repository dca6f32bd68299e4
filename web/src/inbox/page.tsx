/** All that waits for a person, over all sessions and runs: a list, and the one that is looked at. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import type { EventPage, InboxItem } from "../api/types.gen";
import { useKeys } from "../keys";
import { now } from "../live/feed";
import { inbox } from "../live/inbox";
import { Ask } from "../parts/ask";
import { becameOf, type Settled, titleOf, untilWhen, wasYes } from "../parts/asking";
import { Icon } from "../parts/icon";
import { clock, fully, span, visible } from "../words";
import { About, originInWords, useOrigin } from "./about";
import { lookedAt, neighbour, nextAfter } from "./choice";
import { type Past, pastOf } from "./past";

const WINDOW = 400;

export function InboxPage() {
  const { state, loaded, trouble } = inbox();
  const { items, seq } = state.value;
  const past = usePast(loaded.value ? seq : null);
  if (!loaded.value) {
    return (
      <div class="page" aria-busy={trouble.value === null}>
        <h1>Inbox</h1>
        <p class="load gap">
          <Icon name="clock" /> {trouble.value ?? "Asking the server what waits for you …"}
        </p>
      </div>
    );
  }
  return <Inbox items={items} past={past} />;
}

function Inbox({ items, past }: { items: readonly InboxItem[]; past: readonly Past[] }) {
  const [chosen, choose] = useState<InboxItem | null>(null);
  const decided = useRef(new Set<string>());
  const before = useRef(items);
  const card = useRef<HTMLDivElement>(null);
  // Whose card is to have the focus, once it is drawn; null for the page itself.
  const wanted = useRef<string | null | undefined>(undefined);
  const shown = lookedAt(items, chosen);
  const settled = shown === null ? null : settledOf(shown, items, past);

  const look = (item: InboxItem | null) => {
    wanted.current = item?.id ?? null;
    choose(item);
  };
  // Hands the focus on: to the card that was chosen, and after a decision to the next one.
  useEffect(() => {
    const gone = shown !== null && !items.some(({ id }) => id === shown.id);
    if (gone && decided.current.has(shown.id)) look(nextAfter(before.current, items, shown.id));
    before.current = items;
  }, [items, shown]);
  useEffect(() => {
    if (wanted.current === undefined || wanted.current !== (shown?.id ?? null)) return;
    wanted.current = undefined;
    const place = card.current?.querySelector<HTMLElement>(".ask[tabindex]");
    (place ?? document.getElementById("content"))?.focus();
  });
  useEffect(() => {
    if (chosen === null && shown !== null) choose(shown); // what one looks at first, one goes on looking at
  }, [chosen, shown]);
  const step = (way: 1 | -1) => look(neighbour(items, shown, way));
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
  });

  return (
    <div class="page">
      <div class="row">
        <h1>Inbox</h1>
        <span class="muted" role="status">
          {countInWords(items.length)}
        </span>
        <span class="grow" />
        {items.length > 0 && (
          <span class="small faint inbox-keys">
            Move with <kbd>J</kbd> <kbd>K</kbd>, decide with <kbd>A</kbd> <kbd>D</kbd>
          </span>
        )}
      </div>
      {shown === null ? (
        <div class="panel empty gap">
          <Icon name="inbox" size="big" />
          <h2>Nothing waits for you</h2>
          <p>
            When an agent asks for permission or has a question, it appears here and the tab’s title
            counts it.
          </p>
          <a class="btn" href="/index.html">
            Start a session
          </a>
        </div>
      ) : null}
      <div class={shown === null ? undefined : "inbox"}>
        <div class={shown === null ? "inbox" : undefined}>
          {items.length > 0 && (
            <ul class="list panel" aria-label="What waits">
              {items.map((item) => (
                <Row
                  key={item.id}
                  item={item}
                  on={item.id === shown?.id}
                  onPick={() => look(item)}
                />
              ))}
            </ul>
          )}
          {past.length > 0 && <Decided past={past} />}
        </div>
        {shown !== null && (
          <div ref={card}>
            <Ask
              key={shown.id}
              item={shown}
              settled={settled}
              announced={false}
              headed
              onSent={() => decided.current.add(shown.id)}
            >
              <About item={shown} />
            </Ask>
            {settled !== null && items.length > 0 && (
              <button
                type="button"
                class="btn sm gap"
                onClick={() => look(nextAfter(before.current, items, shown.id))}
              >
                Go to the next one
              </button>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

const countInWords = (count: number): string =>
  count === 0 ? "" : count === 1 ? "1 waits for you" : `${count} wait for you`;

/** Of an item that waits no longer, and that somebody else has decided. */
function settledOf(
  item: InboxItem,
  items: readonly InboxItem[],
  past: readonly Past[],
): Settled | null {
  if (items.some(({ id }) => id === item.id)) return null;
  const found = past.find(({ id }) => id === item.id);
  return found === undefined ? null : { ...found.settled, at: found.at };
}

function Row({ item, on, onPick }: { item: InboxItem; on: boolean; onPick: () => void }) {
  const origin = useOrigin(item);
  return (
    <li class={on ? "sel" : undefined}>
      <button type="button" class="pick" aria-current={on ? "true" : undefined} onClick={onPick}>
        <Icon name={item.asked.kind === "question.asked" ? "question" : "hand"} />
        <span class="grow">
          <b>{titleOf(item.asked)}</b>
          <span class="small muted cut block">{originInWords(origin)}</span>
          <span class="small faint num block" title={fully(item.asked_at)}>
            {untilWhen(item.asked, item.asked_at, now.value)} · {span(now.value - item.asked_at)}
          </span>
        </span>
      </button>
    </li>
  );
}

function Decided({ past }: { past: readonly Past[] }) {
  return (
    <section class="past" aria-labelledby="decided">
      <h2 id="decided">Decided today</h2>
      <ul class="panel list">
        {past.map(({ id, at, settled, item }) => (
          <li key={id}>
            <span class={`st ${wasYes(settled.outcome) ? "ok" : "canceled"}`}>
              <Icon name={wasYes(settled.outcome) ? "tick" : "slashed"} />
              {becameOf(item?.asked.kind ?? "approval.asked", { outcome: settled.outcome })}
            </span>
            <span class="grow cut muted" title={item === null ? undefined : titleOf(item.asked)}>
              {item === null ? "" : titleOf(item.asked)}
            </span>
            <span class="num faint" title={fully(at)}>
              {[visible(settled.who ?? ""), clock(at)].filter((word) => word !== "").join(", ")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Read anew whenever something came or went. */
function usePast(seq: number | null): readonly Past[] {
  const [past, know] = useState<readonly Past[]>([]);
  useEffect(() => {
    if (seq === null) return;
    let gone = false;
    const after = Math.max(0, seq - WINDOW);
    void get<EventPage>(`/api/v1/inbox/events?after=${after}&limit=${WINDOW}`).then((answer) => {
      if (!gone && answer.kind === "ok") know(pastOf(answer.body.items, Date.now()));
    });
    return () => {
      gone = true;
    };
  }, [seq]);
  return past;
}
