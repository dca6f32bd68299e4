/** How fresh the page is, in one fixed place. */

import type { Freshness } from "../start/state";
import { clock } from "../words";
import { Icon } from "./icon";

export function FreshnessBadge({ fresh }: { fresh: Freshness }) {
  return (
    <span class={`fresh ${fresh.kind}`} role="status">
      <Words fresh={fresh} />
    </span>
  );
}

function Words({ fresh }: { fresh: Freshness }) {
  switch (fresh.kind) {
    case "connecting":
      return (
        <>
          <Icon name="clock" size="s" />
          Connecting
        </>
      );
    case "live":
      return (
        <>
          <span class="dot" />
          Live
        </>
      );
    case "reconnecting":
      return (
        <>
          <Icon name="turn" size="s" />
          {/* the seconds are for the eye: a screen reader would read every one of them */}
          Reconnecting<span aria-hidden="true">({fresh.seconds} s)</span>
        </>
      );
    case "stale":
      return (
        <>
          <Icon name="broken" size="s" />
          Stale since {clock(fresh.since)}
        </>
      );
    case "unreachable":
      return (
        <>
          <Icon name="broken" size="s" />
          No answer
        </>
      );
  }
}
