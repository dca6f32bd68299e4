/** Something that an agent asks of a person: what it is about, how long it waits, and what one can say. */

import type { ComponentChildren } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { post, whyNot } from "../api/client";
import type { InboxItem } from "../api/types.gen";
import { now } from "../live/feed";
import { visibleLines } from "../words";
import { Approval } from "./approval";
import {
  answerInWords,
  becameOf,
  iconOf,
  type Settled,
  titleOf,
  untilWhen,
  wasYes,
} from "./asking";
import { Barred } from "./barred";
import { calm, stirred } from "./calm";
import { Limit, Switch } from "./going-on";
import { Icon } from "./icon";
import { PastAsk, PastAsks } from "./past-ask";
import { Plan } from "./plan";
import { Question } from "./question";
import { SignIn } from "./sign-in";

/** Says it to the server. It is done once the stream says so: until then the card stays. */
export type Say = (
  verb: "decision" | "answer" | "decline",
  body: { words?: string; [field: string]: unknown },
) => Promise<void>;

export type Stand =
  | { kind: "open" }
  | { kind: "sending" }
  | { kind: "sent" }
  /** Refused for what was said: it can be said otherwise. */
  | { kind: "wrong"; why: string }
  /** Refused for good: somebody was faster, or nobody waits any more. */
  | { kind: "late"; why: string };

type Props = {
  item: InboxItem;
  settled?: Settled | null;
  /** Where it comes from, for a page that is not that place. */
  children?: ComponentChildren;
  /** Told to those who hear the page, once. A page that moves its focus here has said it. */
  announced?: boolean;
  /** The server has it; the stream does not say so yet. */
  onSent?: () => void;
  /** The title is the heading of a part of the page. */
  headed?: boolean;
};

const KINDS: Record<InboxItem["asked"]["kind"], string> = {
  "approval.asked": "Permission request",
  "question.asked": "Question from the agent",
  "limit.reached": "Limit reached",
  "plan.asked": "Plan to approve",
  "switch.asked": "Model at its limit",
  "sign-in.asked": "Sign-in needed",
};

/** Airboss asks a question itself where an agent crashed. */
const kindOf = (asked: InboxItem["asked"]): string =>
  asked.kind === "question.asked" && asked.by != null ? "Question from Airboss" : KINDS[asked.kind];

const TOO_EARLY = "This appeared just now, so nothing was decided. Review it, then try again.";
const CONFLICT = 409;
const NOT_FOUND = 404;

export function Ask(props: Props) {
  const past = useContext(PastAsks);
  if (past !== null && (props.settled ?? null) === null) {
    return <PastAsk item={props.item} past={past} />;
  }
  return <OpenAsk {...props} />;
}

function OpenAsk({
  item,
  settled = null,
  children,
  announced = true,
  headed = false,
  onSent = () => {},
}: Props) {
  const [stand, take] = useState<Stand>({ kind: "open" });
  const card = useRef<HTMLElement>(null);
  const { asked } = item;
  const isDecided = settled !== null;
  useLayoutEffect(() => {
    if (isDecided) return;
    stirred();
    return stirred;
  }, [item.id, isDecided]);
  if (settled !== null) return <Decided item={item} settled={settled} />;

  const say: Say = async (verb, body) => {
    if (stand.kind === "sending" || stand.kind === "sent" || stand.kind === "late") return;
    if (!calm.value && !isWritten(verb, body)) {
      stirred(); // who hammers on a key does not look
      return take({ kind: "wrong", why: TOO_EARLY });
    }
    card.current?.focus({ preventScroll: true }); // the button that was pressed is disabled now, and would lose it
    take({ kind: "sending" });
    const answer = await post(`/api/v1/inbox/${encodeURIComponent(item.id)}/${verb}`, body);
    if (answer.kind === "ok") {
      take({ kind: "sent" });
      return onSent();
    }
    const late = answer.kind === "failed" && [CONFLICT, NOT_FOUND].includes(answer.status);
    take({ kind: late ? "late" : "wrong", why: whyNot(answer) });
  };

  const title = titleOf(asked);
  const part = { item, stand, say, card };
  return (
    <section
      ref={card}
      class="ask"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys work only while it has focus itself
      tabIndex={0}
      data-step
      aria-label={`${kindOf(asked)}: ${title}`}
    >
      <header>
        <Icon name={iconOf(asked)} />
        {headed ? <h2>{title}</h2> : <b>{title}</b>}
        <span class="grow" />
        <span class="small muted num">{untilWhen(asked, item.asked_at, now.value)}</span>
      </header>
      {announced && (
        <span class="vh" role="alert">
          {kindOf(asked)}: {title}
        </span>
      )}
      <div class="in">
        {asked.kind === "approval.asked" && (
          <Approval {...part} asked={asked}>
            {children}
          </Approval>
        )}
        {asked.kind === "limit.reached" && (
          <Limit {...part} asked={asked}>
            {children}
          </Limit>
        )}
        {asked.kind === "plan.asked" && (
          <Plan {...part} asked={asked}>
            {children}
          </Plan>
        )}
        {asked.kind === "switch.asked" && (
          <Switch {...part} asked={asked}>
            {children}
          </Switch>
        )}
        {asked.kind === "sign-in.asked" && (
          <SignIn {...part} asked={asked}>
            {children}
          </SignIn>
        )}
        {asked.kind === "question.asked" && (
          <Question {...part} asked={asked}>
            {children}
          </Question>
        )}
        <Barred needs="decide" />
        <Standing stand={stand} />
      </div>
    </section>
  );
}

/** Somebody wrote or chose something on this very card before: they have seen it. */
const isWritten = (verb: Parameters<Say>[0], body: { words?: string }): boolean =>
  verb === "answer" || (body.words ?? "") !== "";

function Standing({ stand }: { stand: Stand }) {
  switch (stand.kind) {
    case "open":
      return null;
    case "sending":
      return (
        <p class="small muted" role="status">
          Sending…
        </p>
      );
    case "sent":
      return (
        <p class="small muted" role="status">
          Saved. The agent will continue in a moment.
        </p>
      );
    case "wrong":
    case "late":
      return (
        <p class="trouble" role="alert">
          <Icon name="warning" size="s" /> {visibleLines(stand.why)}
        </p>
      );
  }
}

function Decided({ item: { asked }, settled }: { item: InboxItem; settled: Settled }) {
  const yes = wasYes(settled.outcome);
  return (
    <section class="ask done" aria-label={kindOf(asked)}>
      <p class="row wrap">
        <span class={`st ${yes ? "ok" : "canceled"}`}>
          <Icon name={yes ? "tick" : "slashed"} />
          {becameOf(asked.kind, settled)}
        </span>
        <span class="muted cut" title={titleOf(asked)}>
          {titleOf(asked)}
        </span>
        {settled.answer != null && settled.answer !== "" && (
          <span class="answer">“{answerInWords(settled.answer)}”</span>
        )}
      </p>
    </section>
  );
}
