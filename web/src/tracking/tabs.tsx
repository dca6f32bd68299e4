/** The sessions of a task: what drives it, then each attempt. */

import { useEffect, useMemo } from "preact/hooks";
import { CageBadge } from "../parts/cage-badge";
import { Icon } from "../parts/icon";
import { PastAsks, type PastMoment } from "../parts/past-ask";
import { Conversation } from "../session/conversation";
import type { SessionState, TaskState } from "../state/types";
import { duration } from "../words";
import { merged, type Tab, tabsOf } from "./driving";
import { laterThan, sessionAt } from "./past";
import { goToMoment, isMoving, slowPast } from "./player";
import type { Choice } from "./selection";
import { useSessions } from "./use";
import { asking } from "./view";

type Props = {
  task: TaskState;
  /** When the run did: moments of the past are told from there. */
  began: number;
  choice: Choice;
};

export function Tabs({ task, began, choice }: Props) {
  const tabs = tabsOf(task);
  const [driving] = tabs;
  const wanted = choice.selection.value.attempt ?? 0;
  const tab = tabs.find((one) => one.number === wanted) ?? driving;
  const asked = asking.value;
  const askedTab = tabs.find((one) => asked !== null && one.sessions.includes(asked));
  useEffect(() => {
    if (askedTab === undefined) return;
    asking.value = null;
    choice.select({ attempt: askedTab.number }, "side");
    requestAnimationFrame(() => toAsk());
  }, [askedTab?.number, choice]);
  if (tab === undefined) return null;
  const select = (number: number) => choice.select({ attempt: number, event: null }, "side");
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    select(next.number);
    document.getElementById(`tab-${next.number}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Sessions">
        {tabs.map((one) => (
          <button
            key={one.number}
            id={`tab-${one.number}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="tab-content"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => select(one.number)}
            onKeyDown={move}
          >
            <TabMark tab={one} />
            {one.name}
          </button>
        ))}
      </div>
      <div class="sess" id="tab-content" role="tabpanel" aria-labelledby={`tab-${tab.number}`}>
        <Session key={`${task.id} ${tab.number}`} tab={tab} task={task} began={began} />
      </div>
    </>
  );
}

function TabMark({ tab }: { tab: Tab }) {
  if (tab.running) return <Mark look="run" icon="play" words="running" />;
  if (tab.succeeded === null) return null;
  return tab.succeeded ? (
    <Mark look="ok" icon="tick" words="succeeded" />
  ) : (
    <Mark look="bad" icon="cross" words="failed" />
  );
}

type MarkProps = { look: string; icon: "play" | "tick" | "cross"; words: string };

const Mark = ({ look, icon, words }: MarkProps) => (
  <span class={look}>
    <Icon name={icon} size="s" />
    <span class="vh">{words}</span>
  </span>
);

/** Where somebody is asked, the card is what they came for. */
function toAsk(tries = 40): void {
  const card = document.querySelector<HTMLElement>(".side .ask");
  if (card !== null) {
    card.scrollIntoView({ block: "nearest" });
    (card.matches("[tabindex]") ? card : card.querySelector<HTMLElement>("button"))?.focus();
  } else if (tries > 0) setTimeout(() => toAsk(tries - 1), 50);
}

/** Of a long conversation, while somebody drags: more would not be read. */
const WHILE_MOVING = 6;

type SessionProps = { tab: Tab; task: TaskState; began: number };

function Session({ tab, task, began }: SessionProps) {
  const { states, earlier } = useSessions(tab.sessions);
  const at = slowPast.value;
  const most = isMoving.value ? WHILE_MOVING : undefined;
  const whole = useMemo(() => {
    if (states === null) return null;
    const then = at === null ? states : states.map((one) => sessionAt(one, at, most));
    return tab.number === 0 ? merged(then, task) : then[0];
  }, [states, tab.number, tab.number === 0 ? task : null, at, most]);
  const past = useMemo(
    () => (at === null || states === null ? null : momentIn(states, at, began)),
    [states, at, began],
  );
  if (whole === null || (at !== null && earlier)) {
    return (
      <p class="load" aria-busy="true">
        <Icon name="clock" /> Loading the session…
      </p>
    );
  }
  const last = tab.sessions.at(-1);
  const view = states?.at(-1)?.view;
  return (
    <>
      {whole !== undefined && (
        <PastAsks.Provider value={past}>
          <Conversation session={whole} label={tab.name}>
            {past !== null && states !== null && <Later past={past} states={states} />}
          </Conversation>
        </PastAsks.Provider>
      )}
      {last !== undefined && (
        <a class="small open-session" href={`/index.html?session=${last}`}>
          <span>Open this session</span>
          {view != null && <CageBadge view={view} />}
        </a>
      )}
    </>
  );
}

const momentIn = (states: readonly SessionState[], at: number, began: number): PastMoment => ({
  at,
  began,
  goTo: goToMoment,
  settledOf: (item) => {
    const blocks = states.map((state) => state.blocks.get(item));
    return blocks.find((block) => block?.kind === "ask")?.settled ?? null;
  },
});

type LaterProps = { past: PastMoment; states: readonly SessionState[] };

/** Where the past ends, and what is not shown since it came later. */
function Later({ past, states }: LaterProps) {
  const { count, next } = laterThan(states, past.at);
  const told = (at: number) => duration(Math.max(0, at - past.began));
  return (
    <div class="then">
      <p class="small num">{told(past.at)}, the time you are viewing</p>
      {next !== null && (
        <p class="small muted num">
          {count === 1
            ? "1 later block is hidden."
            : `${count.toLocaleString("en")} later blocks are hidden.`}{" "}
          <button type="button" class="link" onClick={() => goToMoment(next)}>
            Go to the next one, at {told(next)}
          </button>
        </p>
      )}
    </div>
  );
}
