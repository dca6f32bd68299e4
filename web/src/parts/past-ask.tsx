/** Something that a person was asked, as it stood at a moment of the past: it can only be read. */

import { createContext } from "preact";
import type { InboxItem } from "../api/types.gen";
import { duration, visibleLines } from "../words";
import { About } from "./approval";
import { answerInWords, becameOf, iconOf, type Settled, titleOf } from "./asking";
import { Icon } from "./icon";
import { Markdown } from "./markdown";

/** The moment that is looked at, for whoever shows what was asked then. */
export type PastMoment = {
  at: number;
  /** What all times are told from. */
  began: number;
  /** What came of it later; null where nothing did. */
  settledOf: (item: string) => Settled | null;
  goTo: (at: number) => void;
};

/** Null is now. */
export const PastAsks = createContext<PastMoment | null>(null);

export function PastAsk({ item, past }: { item: InboxItem; past: PastMoment }) {
  const { asked } = item;
  const title = titleOf(asked);
  const told = (at: number) => duration(Math.max(0, at - past.began));
  return (
    <section class="ask was" aria-label={`Asked at that time: ${title}`}>
      <header>
        <Icon name={iconOf(asked)} />
        <b>{title}</b>
        <span class="grow" />
        <span class="small num">
          asked at {told(item.asked_at)}, open at {told(past.at)}
        </span>
      </header>
      <div class="in">
        {asked.kind === "approval.asked" && <About asked={asked} />}
        {asked.kind === "plan.asked" && <Markdown text={asked.plan ?? asked.summary} />}
        {asked.kind === "question.asked" && asked.question.trim().includes("\n") && (
          <p class="lines">{visibleLines(asked.question.trim())}</p>
        )}
        <Later item={item} past={past} told={told} />
      </div>
    </section>
  );
}

type LaterProps = { item: InboxItem; past: PastMoment; told: (at: number) => string };

function Later({ item, past, told }: LaterProps) {
  const settled = past.settledOf(item.id);
  const at = settled?.at;
  if (settled === null || at === undefined) {
    return <p class="muted">It is still open. Go back to live to decide it.</p>;
  }
  const { at: _at, ...what } = settled;
  const became = becameOf(item.asked.kind, what);
  const said = what.answer ? ` “${answerInWords(what.answer)}”` : "";
  return (
    <p>
      Decided at {told(at)}: {became.charAt(0).toLowerCase() + became.slice(1)}
      {said}.{" "}
      <button type="button" class="link" onClick={() => past.goTo(at)}>
        Go to {told(at)}
      </button>
    </p>
  );
}
