/** Equal requests on one card: which of them, and one decision for those that are chosen. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { post, whyNot } from "../api/client";
import { barred, mayNot } from "../api/role";
import type { ApprovalAsked, InboxItem } from "../api/types.gen";
import { now } from "../live/feed";
import { Always } from "../parts/always";
import { About, Decide } from "../parts/approval";
import { titleOf } from "../parts/asking";
import { Barred } from "../parts/barred";
import { calm, stirred } from "../parts/calm";
import { useCardKeys } from "../parts/card-keys";
import { Icon } from "../parts/icon";
import { useOrigin } from "../parts/origin";
import { RiskLine } from "../parts/risk";
import { fully, span, visible, visibleLines } from "../words";
import { originInWords } from "./about";
import { alwaysAll, rulesOf, waysOf } from "./always-all";

type Props = {
  items: readonly [InboxItem, ...InboxItem[]];
  asked: ApprovalAsked;
  onSent: (item: InboxItem) => void;
};

const TOO_EARLY = "This changed just now, so nothing was decided. Review it, then try again.";

export function GroupCard({ items, asked, onSent }: Props) {
  const card = useRef<HTMLElement>(null);
  const [leftOut, leaveOut] = useState<ReadonlySet<string>>(new Set());
  const [marked, mark] = useState(0);
  const [sending, send] = useState(false);
  const [trouble, tell] = useState<string | null>(null);
  const [why, explain] = useState<string | null>(null);
  /** Which of the ways to allow them always is chosen; null while nobody looks at them. */
  const [always, choose] = useState<number | null>(null);
  const chosen = items.filter(({ id }) => !leftOut.has(id));
  const open = !sending && chosen.length > 0 && mayNot("decide") === null;
  const place = Math.min(marked, items.length - 1);
  const members = items.map(({ id }) => id).join(" ");
  // Who joins or leaves changes what one press decides.
  useLayoutEffect(() => {
    stirred();
    return stirred;
  }, [members]);

  const toggle = ({ id }: InboxItem) => {
    const next = new Set(leftOut);
    if (!next.delete(id)) next.add(id);
    leaveOut(next);
  };
  const ways = waysOf(chosen);
  const isOwner = mayNot("own") === null;
  const decide = async (how: How, words = "") => {
    if (!open) return;
    if (!calm.value && words === "") {
      stirred();
      return tell(TOO_EARLY);
    }
    card.current?.focus({ preventScroll: true });
    send(true);
    tell(null);
    tell(await decideAll(chosen, how, words, onSent));
    send(false);
  };
  const allowAlways = () => {
    const way = ways[Math.min(always ?? 0, ways.length - 1)];
    if (way !== undefined) void decide({ always: way.id });
  };
  const turnAlways = () => choose(always === null ? 0 : null);
  useCardKeys(card, !sending, (key) => {
    const one = items[place];
    const number = Number(key) - 1;
    if (key === "w" && ways.length > 0 && isOwner) turnAlways();
    else if (always !== null && number >= 0 && number < ways.length) choose(number);
    else if (always !== null && key === "enter") allowAlways();
    else if (key === "a") void decide("allow-once");
    else if (key === "d") void decide("deny");
    else if (key === "x" && one !== undefined) {
      toggle(one);
      mark((place + 1) % items.length);
    } else return false;
    return true;
  });

  const title = titleOf(asked);
  const these = chosen.length === 1 ? "this one" : `these ${chosen.length}`;
  return (
    <section
      ref={card}
      class="ask"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys work only while it has focus itself
      tabIndex={0}
      aria-label={`${items.length} identical permission requests: ${title}`}
    >
      <header>
        <Icon name="hand" />
        <h2>{title}</h2>
        <span class="grow" />
        <span class="small muted num">
          {items.length} identical requests, oldest {span(now.value - items[0].asked_at)}
        </span>
      </header>
      <div class="in">
        <RiskLine severity={asked.severity} risk={asked.risk} />
        <About asked={asked} />
        {asked.description !== "" && (
          <p class="muted">
            <span class="faint">Reason:</span> {visible(asked.description)}
          </p>
        )}
        <fieldset class="members">
          <legend class="small muted">
            <span role="status">
              {chosen.length} of {items.length} selected
            </span>
          </legend>
          {items.map((item, index) => (
            <Member
              key={item.id}
              item={item}
              on={!leftOut.has(item.id)}
              marked={index === place}
              onToggle={() => toggle(item)}
            />
          ))}
        </fieldset>
        <div class="acts">
          <Decide class="btn you" disabled={!open} onClick={() => void decide("allow-once")}>
            Allow {these} once <kbd aria-hidden="true">A</kbd>
          </Decide>
          {ways.length > 0 && (
            <button
              type="button"
              class="btn"
              aria-expanded={always !== null}
              disabled={!open}
              {...barred("own")}
              onClick={turnAlways}
            >
              Always allow <Icon name="down" size="s" />
            </button>
          )}
          <Decide disabled={!open} onClick={() => void decide("deny", why ?? "")}>
            Deny {these} <kbd aria-hidden="true">D</kbd>
          </Decide>
          <span class="grow" />
          {why === null && (
            <button type="button" class="btn ghost sm" disabled={!open} onClick={() => explain("")}>
              Deny and say why
            </button>
          )}
        </div>
        {always !== null && ways.length > 0 && (
          <Always
            options={ways}
            rulesOf={(way) => rulesOf(chosen, way.id)}
            chosen={Math.min(always, ways.length - 1)}
            name="always-these"
            disabled={!open}
            onChoose={choose}
            onAllow={allowAlways}
            onCancel={turnAlways}
          />
        )}
        {why !== null && (
          <form
            class="row wrap"
            onSubmit={(event) => {
              event.preventDefault();
              void decide("deny", why);
            }}
          >
            <label class="small" for="why-these">
              Reason (the agents see it)
            </label>
            <input
              id="why-these"
              class="input grow"
              value={why}
              maxLength={2_000}
              disabled={sending}
              onInput={(event) => explain(event.currentTarget.value)}
            />
            <button type="submit" class="btn" disabled={!open || why.trim() === ""}>
              Deny with reason
            </button>
          </form>
        )}
        <Barred needs="decide" />
        {sending && (
          <p class="small muted" role="status">
            Sending…
          </p>
        )}
        {trouble !== null && (
          <p class="trouble" role="alert">
            <Icon name="warning" size="s" /> {visibleLines(trouble)}
          </p>
        )}
      </div>
    </section>
  );
}

/** “Always” has the id of its option. */
type How = "allow-once" | "deny" | { always: string };

/** One after the other: a server that stops in between has decided those before. What went wrong, if anything. */
async function decideAll(
  chosen: readonly InboxItem[],
  how: How,
  words: string,
  onSent: (item: InboxItem) => void,
): Promise<string | null> {
  const refused: string[] = [];
  const always = typeof how === "string" ? null : alwaysAll(how.always);
  for (const item of chosen) {
    const path = `/api/v1/inbox/${encodeURIComponent(item.id)}/decision`;
    const answer = await post(path, always?.next(item) ?? { choice: how, words });
    if (answer.kind === "ok") {
      always?.done(item);
      onSent(item);
    } else refused.push(whyNot(answer));
  }
  if (refused.length === 0) return null;
  const decided = `${chosen.length - refused.length} of ${chosen.length} decided.`;
  return [decided, ...new Set(refused)].join("\n");
}

type MemberProps = { item: InboxItem; on: boolean; marked: boolean; onToggle: () => void };

function Member({ item, on, marked, onToggle }: MemberProps) {
  const origin = useOrigin(item);
  return (
    <div class={marked ? "member marked" : "member"}>
      <label class="check grow">
        <input type="checkbox" checked={on} onChange={onToggle} />
        <span class="cut">{originInWords(origin)}</span>
      </label>
      <a class="small" href={`/index.html?${new URLSearchParams({ session: item.session })}`}>
        Open<span class="vh"> {originInWords(origin)}</span>
      </a>
      <span class="mono small muted cut folder">{visible(origin?.session?.cwd ?? "")}</span>
      <span class="small faint num" title={fully(item.asked_at)}>
        {span(now.value - item.asked_at)}
      </span>
    </div>
  );
}
