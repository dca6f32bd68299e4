/** A state: icon and word, its weight by urgency. */

import { type Look, stateOf } from "../words";
import { Icon, type IconName } from "./icon";

const ICONS: Record<Look, IconName> = {
  waiting: "clock",
  running: "play",
  you: "hand",
  resumed: "turn",
  ok: "tick",
  failed: "cross",
  canceled: "slashed",
  stale: "broken",
};

export function Status({ state, stale = false }: { state: string; stale?: boolean }) {
  const { look, word } = stateOf(state, stale);
  return (
    <span class={`st ${look}`}>
      <Icon name={ICONS[look]} />
      {word}
    </span>
  );
}
