/** What cannot go on by itself: a limit that was reached, a model that takes no more requests. A person says
 *  whether it goes on. */

import type { ComponentChildren } from "preact";
import type { LimitReached, SwitchAsked } from "../api/types.gen";
import { visible } from "../words";
import { Decide, isOpen, type Part } from "./approval";
import { goingOnMeans } from "./asking";
import { useCardKeys } from "./card-keys";

export function Limit(part: Part<LimitReached>) {
  return <GoingOn {...part} means={goingOnMeans(part.asked)} yes="Continue" />;
}

export function Switch(part: Part<SwitchAsked>) {
  const { model, retry_seconds } = part.asked;
  const means = (
    <>
      The service accepts no more requests for {visible(model)} now
      {retry_seconds != null && ` (try again in ${retry_seconds} s)`}. With another model, which the
      service chooses, the agent continues immediately.
    </>
  );
  return <GoingOn {...part} means={means} yes="Continue with another model" />;
}

type Props = Part<LimitReached | SwitchAsked> & { means: ComponentChildren; yes: string };

function GoingOn({ stand, say, card, children, means, yes }: Props) {
  const open = isOpen(stand);
  const decide = (choice: "allow-once" | "deny") => void say("decision", { choice, words: "" });
  useCardKeys(card, open, (key) => {
    if (key === "a") decide("allow-once");
    else if (key === "d") decide("deny");
    else return false;
    return true;
  });
  return (
    <>
      <p>{means}</p>
      {children}
      <div class="acts">
        <Decide class="btn you" disabled={!open} onClick={() => decide("allow-once")}>
          {yes} <kbd aria-hidden="true">A</kbd>
        </Decide>
        <Decide disabled={!open} onClick={() => decide("deny")}>
          Stop here <kbd aria-hidden="true">D</kbd>
        </Decide>
      </div>
    </>
  );
}
