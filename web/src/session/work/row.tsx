/** One line of a box of calls: what was called, what is known of it, and below it what it brought. */

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { known } from "../../live/feed";
import { becameOf, wasYes } from "../../parts/asking";
import { Icon, type IconName } from "../../parts/icon";
import { PastAsks } from "../../parts/past-ask";
import { fully } from "../../words";
import { useChoice } from "../remember";
import { took } from "../said";
import { Inner } from "./inner";
import { isPlainLook, permittedInFull, permittedInWords } from "./permitted";
import type { CallEntry } from "./pieces";

type Props = {
  id: string;
  icon: IconName;
  /** What was called, in a few words. */
  title: ComponentChildren;
  /** A link of its own beside the button that opens the row. */
  link?: ComponentChildren;
  facts?: ComponentChildren;
  time?: ComponentChildren;
  opens?: boolean;
  /** There is nothing below it. */
  flat?: boolean;
  children: () => ComponentChildren;
};

export function Row({ id, icon, title, link, facts, time, opens = false, flat, children }: Props) {
  const choice = useChoice(id, "open");
  const isOpen = !flat && (choice.value ?? opens);
  const turn = () => {
    if (!flat) choice.value = !isOpen;
  };
  return (
    <section class={isOpen ? "call open" : "call"} data-part>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button in it is for the keys */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: all of the row is the button's, for a mouse */}
      <div
        class="ch"
        onClick={(event) => {
          if (!(event.target as Element).closest("a, button")) turn();
        }}
      >
        <button
          type="button"
          class={link === undefined ? "tog" : "tog short"}
          data-step
          data-still
          aria-expanded={flat ? undefined : isOpen}
          onClick={turn}
        >
          <Icon name={icon} />
          <span class="t">{title}</span>
        </button>
        {link !== undefined && <span class="lnk">{link}</span>}
        {facts}
        <span class="time">{time}</span>
        {flat ? <span class="chev" /> : <Icon name="right" size="s" />}
      </div>
      {isOpen && <div class="in">{children()}</div>}
    </section>
  );
}

export function Took({ tool }: Pick<CallEntry, "tool">) {
  const past = useContext(PastAsks);
  const seen = past?.at ?? known.value;
  const words = tool.receiving
    ? took(Math.floor(Math.max(0, seen - tool.at) / 1000) * 1000).replace(".0", "")
    : took((tool.ended_at ?? tool.at) - tool.at);
  return (
    <time dateTime={new Date(tool.at).toISOString()} title={fully(tool.at)}>
      {words}
    </time>
  );
}

/** How it stands: it waits for somebody, it was not let through, it was cut off. */
export function Standing({ tool, ask }: CallEntry) {
  const isInner = useContext(Inner);
  const isPast = useContext(PastAsks) !== null;
  if (ask !== null && ask.settled === null) {
    const words = isPast ? "Waited for you" : "Waiting for you";
    return (
      <span class={isPast ? "st waiting" : "st you"}>
        <Icon name="hand" />
        {isInner ? `${words} below` : words}
      </span>
    );
  }
  if (tool.vetoed !== null) return <Fact look="bad" icon="slashed" words="Blocked" />;
  if (tool.cut) return <Fact icon="slashed" words="Cut off" />;
  return null;
}

/** Who allowed it, or did not. */
export function Decision({ tool, ask }: CallEntry) {
  if (ask === null) return <Permitted tool={tool} />;
  if (ask.settled === null) return null;
  const yes = wasYes(ask.settled.outcome);
  return (
    <Fact
      look={yes ? "opt" : "bad"}
      icon={yes ? "tick" : "slashed"}
      words={becameOf(ask.item.asked.kind, { ...ask.settled, reason: null })}
    />
  );
}

/** Nobody was asked about it in this session: a rule, the policy or an earlier decision spoke. */
function Permitted({ tool }: Pick<CallEntry, "tool">) {
  const { permission } = tool;
  if (permission === null || isPlainLook(tool)) return null;
  const { allowed } = permission;
  return (
    <Fact
      look={allowed ? "opt" : "bad"}
      icon={allowed ? "tick" : "slashed"}
      words={permittedInWords(permission)}
      title={permittedInFull(permission)}
    />
  );
}

type FactProps = { words: string; icon?: IconName; look?: string; title?: string };

export const Fact = ({ words, icon, look = "", title }: FactProps) => (
  <span class={`fact ${look}`} title={title}>
    {icon !== undefined && <Icon name={icon} size="s" />}
    {words}
  </span>
);
