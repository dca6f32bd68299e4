/** All that waits for a person, over all sessions and runs: a list, and what is looked at. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import { serverTime } from "../api/clock";
import type { EventPage, InboxItem } from "../api/types.gen";
import { useKeys } from "../keys";
import { inbox } from "../live/inbox";
import { Ask } from "../parts/ask";
import { becameOf, type Settled, titleOf, wasYes } from "../parts/asking";
import { Icon } from "../parts/icon";
import type { Recorded } from "../state/types";
import { clock, fully, visible } from "../words";
import { About } from "./about";
import { lookedAt, neighbour, nextAfter } from "./choice";
import { FinishSignIn } from "./finish";
import { GroupCard } from "./group";
import { countInWords, type Group, groupsOf } from "./groups";
import { List } from "./list";
import { useNarrow } from "./narrow";
import { Notify } from "./notify";
import { type Past, pastOf } from "./past";
import { SuggestionLine } from "./suggestion";

const WINDOW = 400;

export function InboxPage() {
  const { state, loaded, trouble } = inbox();
  const { items, seq } = state.value;
  const events = useEvents(loaded.value ? seq : null);
  if (!loaded.value) {
    return (
      <div class="page" aria-busy={trouble.value === null}>
        <h1>Inbox</h1>
        <p class="load gap">
          <Icon name="clock" /> {trouble.value ?? "Loading the inbox…"}
        </p>
      </div>
    );
  }
  return <Inbox items={items} events={events} />;
}

type Props = { items: readonly InboxItem[]; events: readonly Recorded[] };

function Inbox({ items, events }: Props) {
  const groups = useMemo(() => groupsOf(items), [items]);
  const past = useMemo(() => pastOf(events, serverTime()), [events]);
  const [chosen, choose] = useState<Group | null>(null);
  /** On a narrow page what is open can be closed again. */
  const [closed, close] = useState(false);
  const narrow = useNarrow();
  const [decided, decide] = useState<ReadonlySet<string>>(new Set());
  const before = useRef(groups);
  const card = useRef<HTMLDivElement>(null);
  // Whose card is to have the focus, once it is drawn; null for the page itself.
  const wanted = useRef<string | null | undefined>(undefined);
  const shown = lookedAt(groups, chosen);
  const waits = shown !== null && groups.some(({ id }) => id === shown.id);

  const look = (group: Group | null) => {
    wanted.current = group?.id ?? null;
    close(false);
    choose(group);
  };
  // Hands the focus on: to the card that was chosen, and after a decision to the next one.
  useEffect(() => {
    if (shown !== null && !waits && shown.items.some(({ id }) => decided.has(id))) {
      look(nextAfter(before.current, groups, shown.id));
    }
    before.current = groups;
  }, [groups, shown, decided]); // the stream may say it before the answer comes
  useEffect(() => {
    if (wanted.current === undefined || wanted.current !== (shown?.id ?? null)) return;
    wanted.current = undefined;
    const place = card.current?.querySelector<HTMLElement>(".ask[tabindex]");
    (place ?? document.getElementById("content"))?.focus();
  });
  useEffect(() => {
    if (shown !== null && chosen !== shown) choose(shown); // what one looks at, one goes on looking at
  }, [chosen, shown]);
  const step = (way: 1 | -1) => look(neighbour(groups, shown, way));
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
  });
  const pick = (group: Group) => {
    if (narrow && group.id === shown?.id && !closed) close(true);
    else look(group);
  };

  const open = shown !== null && (
    <div ref={card} class="opened">
      <Shown
        group={shown}
        items={items}
        past={past}
        onSent={({ id }) => decide((before) => new Set([...before, id]))}
      />
      {!waits && groups.length > 0 && (
        <button
          type="button"
          class="btn sm gap"
          onClick={() => look(nextAfter(before.current, groups, shown.id))}
        >
          Next request
        </button>
      )}
    </div>
  );
  const inPlace = narrow && waits;

  return (
    <div class="page">
      <div class="row wrap">
        <h1>Inbox</h1>
        <span class="muted" role="status">
          {countInWords(items.length, groups.length)}
        </span>
        <span class="grow" />
        {items.length > 0 && (
          <span class="small faint inbox-keys">
            Move with <kbd>J</kbd> <kbd>K</kbd>, select with <kbd>X</kbd>, decide with <kbd>A</kbd>{" "}
            <kbd>D</kbd>
          </span>
        )}
        <Notify />
      </div>
      <FinishSignIn />
      <SuggestionLine events={events} items={items} />
      {shown === null ? (
        <div class="panel empty gap">
          <Icon name="inbox" size="big" />
          <h2>Nothing is waiting for you</h2>
          <p>
            When an agent asks for permission or has a question, it appears here. The tab’s title
            shows how many are waiting.
          </p>
          <a class="btn" href="/index.html">
            Start a session
          </a>
        </div>
      ) : null}
      <div class={shown === null ? undefined : "inbox"}>
        <div class={shown === null ? "inbox" : undefined}>
          {groups.length > 0 && (
            <List
              groups={groups}
              shown={closed ? null : (shown?.id ?? null)}
              onPick={pick}
              inPlace={inPlace && open}
            />
          )}
          {past.length > 0 && <Decided past={past} />}
        </div>
        {!inPlace && open}
      </div>
    </div>
  );
}

type ShownProps = {
  group: Group;
  items: readonly InboxItem[];
  past: readonly Past[];
  onSent: (item: InboxItem) => void;
};

/** Of several equal ones one card; of those that somebody else decided, what came of each. */
function Shown({ group, items, past, onSent }: ShownProps) {
  const [first] = group.items;
  const waits = items.some(({ id }) => id === first.id);
  if (waits && group.items.length > 1 && first.asked.kind === "approval.asked") {
    return <GroupCard key={group.id} items={group.items} asked={first.asked} onSent={onSent} />;
  }
  return (
    <>
      {group.items.map((item) => (
        <Ask
          key={item.id}
          item={item}
          settled={settledOf(item, items, past)}
          announced={false}
          headed
          onSent={() => onSent(item)}
        >
          <About item={item} />
        </Ask>
      ))}
    </>
  );
}

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

/** The last ones, read anew whenever something came or went. */
function useEvents(seq: number | null): readonly Recorded[] {
  const [events, know] = useState<readonly Recorded[]>([]);
  useEffect(() => {
    if (seq === null) return;
    let gone = false;
    const after = Math.max(0, seq - WINDOW);
    void get<EventPage>(`/api/v1/inbox/events?after=${after}&limit=${WINDOW}`).then((answer) => {
      if (!gone && answer.kind === "ok") know(answer.body.items);
    });
    return () => {
      gone = true;
    };
  }, [seq]);
  return events;
}
