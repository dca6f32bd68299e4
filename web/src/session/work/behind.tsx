/** A call that waits until somebody decides what another call has asked: both edit the same file. */

import { useContext, useState } from "preact/hooks";
import type { WaitingCall } from "../../api/types.gen";
import { inbox } from "../../live/inbox";
import { Ask } from "../../parts/ask";
import { Icon } from "../../parts/icon";
import { AskedBy } from "../../parts/origin";
import { visible } from "../../words";
import { Home } from "../remember";
import { WaitingCalls } from "./inner";

export function useBehind(block: string): WaitingCall | null {
  const waiting = useContext(WaitingCalls);
  return waiting.find((call) => call.block === block) ?? null;
}

export function BehindFact({ call }: { call: WaitingCall }) {
  const isOwn = useContext(Home) === call.session;
  return (
    <span class="st waiting">
      <Icon name="clock" />
      {isOwn ? "Waiting for another approval" : "Waiting for another session"}
    </span>
  );
}

export function Behind({ call }: { call: WaitingCall }) {
  const [isHere, decideHere] = useState(false);
  const isOwn = useContext(Home) === call.session;
  const item = inbox().state.value.items.find(({ id }) => id === call.item);
  return (
    <div class="behind">
      <p>
        Waiting for the approval <b>{visible(call.title)}</b>{" "}
        {isOwn ? "in this session" : <Place call={call} />}. Both edit the same file, so they run
        one after the other.
      </p>
      {!isOwn && !isHere && item !== undefined && (
        <button type="button" class="btn sm" data-still onClick={() => decideHere(true)}>
          Decide here
        </button>
      )}
      {isHere && item !== undefined && (
        <Ask item={item} announced={false}>
          <AskedBy item={item} isHere={isOwn} />
        </Ask>
      )}
    </div>
  );
}

const Place = ({ call: { session, session_title } }: { call: WaitingCall }) => (
  <>
    in session{" "}
    <a href={`/index.html?session=${encodeURIComponent(session)}`}>
      {visible(session_title || session)}
    </a>
  </>
);
