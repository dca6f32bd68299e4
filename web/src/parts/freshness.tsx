/** How fresh the page is, in one fixed place. */

import type { ComponentChildren } from "preact";
import { ahead } from "../api/clock";
import type { Freshness as Fresh } from "../live/freshness";
import { clock } from "../words";
import { Icon } from "./icon";

type Props = { fresh: Fresh; onTry?: () => void };

export function FreshnessBadge({ fresh, onTry }: Props) {
  const lost = fresh.kind === "stale" || fresh.kind === "unreachable";
  return (
    <>
      <span class={`fresh ${fresh.kind}`} role="status">
        {words(fresh)}
      </span>
      {lost && onTry !== undefined && (
        <button type="button" class="btn sm" aria-label="Try now" onClick={onTry}>
          <span class="phone-only">
            <Icon name="turn" size="s" />
          </span>
          <span class="desk">Try now</span>
        </button>
      )}
    </>
  );
}

function words(fresh: Fresh): ComponentChildren {
  switch (fresh.kind) {
    case "connecting":
      return [<Icon key="i" name="clock" size="s" />, "Connecting"];
    case "live":
      return [<span key="i" class="dot" />, "Live"];
    case "catching":
      return [<Icon key="i" name="download" size="s" />, "Catching up"];
    case "reconnecting":
      return (
        <>
          <Icon name="turn" size="s" />
          {/* the seconds are for the eye: a screen reader would read every one of them */}
          Reconnecting<span aria-hidden="true">({fresh.seconds} s)</span>
        </>
      );
    case "behind":
      return (
        <>
          <Icon name="broken" size="s" />
          Not up to date
          <span class="why">
            : last heard from the database <span aria-hidden="true">{fresh.seconds} s ago</span>
          </span>
        </>
      );
    case "stale":
      return [
        <Icon key="i" name="broken" size="s" />,
        `Stale since ${clock(fresh.since + ahead.value)}`,
      ];
    case "unreachable":
      return [<Icon key="i" name="broken" size="s" />, "No response"];
    case "complete":
      return [<Icon key="i" name="tick" size="s" />, "Complete"];
    case "preview":
      return [<Icon key="i" name="job" size="s" />, "Preview"];
  }
}
