/** Whether a session or a run works in a cage: icon and words. */

import type { RunView, SessionView } from "../api/types.gen";
import { useCageHere } from "./cage-here";
import { CAGE_WORDS, cageAbout, cageLook, runBadge } from "./cage-words";
import { Icon } from "./icon";

type Props = {
  view: Pick<SessionView, "cage_profile" | "cage">;
  /** Shows what is behind it; without this it only tells. */
  onOpen?: () => void;
};

export function CageBadge({ view, onOpen }: Props) {
  const here = useCageHere(view);
  const look = cageLook(view, here);
  const inside = (
    <>
      <Icon name={look === "free" ? "circle" : "lock"} size="s" />
      {CAGE_WORDS[look]}
    </>
  );
  if (onOpen === undefined) return <span class={`cagebadge ${look}`}>{inside}</span>;
  return (
    <button
      type="button"
      class={`cagebadge ${look}`}
      title={cageAbout(view, here)}
      onClick={onOpen}
    >
      {inside}
    </button>
  );
}

export function RunCageBadge({ run }: { run: Pick<RunView, "caged"> }) {
  const badge = runBadge(run);
  if (badge === null) return null;
  return (
    <span class={`cagebadge ${badge.look}`} title={badge.about}>
      <Icon name={badge.look === "free" ? "circle" : "lock"} size="s" />
      {badge.word}
    </span>
  );
}
