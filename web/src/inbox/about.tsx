/** Where an item comes from: its session, its run, its folder, and what the agent said before. */

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { EventPage, InboxItem, SessionView } from "../api/types.gen";
import { type Origin, useOrigin } from "../parts/origin";
import { runAddress } from "../start/rows";
import { goesOnMeanwhile } from "../state/view";
import { visible, visibleProse } from "../words";

/** “Job · Ship a change”, “Session · Why does it fail?”. */
export function originInWords(origin: Origin | null): string {
  if (origin === null) return "…";
  if (origin.job !== null) return `Job · ${visible(origin.job)}`;
  return `Session · ${visible(origin.session?.title ?? "") || "Untitled"}`;
}

export function About({ item }: { item: InboxItem }) {
  const origin = useOrigin(item);
  const words = useWords(item, origin?.session ?? null);
  return (
    <>
      <dl class="facts">
        {origin?.session != null && (
          <>
            <dt>Folder</dt>
            <dd class="mono small">{visible(origin.session.cwd)}</dd>
          </>
        )}
        <dt>Requested by</dt>
        <dd>
          <a href={`/index.html?${new URLSearchParams({ session: item.session })}`}>
            {visible(origin?.session?.title ?? "") || "Session"}
          </a>
          {item.run != null && origin?.job != null && (
            <>
              {" in "}
              <a href={runAddress(origin.job, item.run)}>{visible(origin.job)}</a>
            </>
          )}
        </dd>
        {origin?.session != null && (
          <>
            <dt>Model</dt>
            <dd>{visible(origin.session.model)}</dd>
          </>
        )}
        {item.run != null && (
          <>
            <dt>Run</dt>
            <dd>{goesOnMeanwhile(item.asked) ? "continues meanwhile" : "paused, uses no slot"}</dd>
          </>
        )}
      </dl>
      {words !== null && (
        <div>
          <h3>Last message before this request</h3>
          <p class="muted said-before">“{words}”</p>
        </div>
      )}
    </>
  );
}

const LAST = 200;
const LONGEST = 400;

/** The end of the agent's last message before it asked. */
function useWords({ asked_at }: InboxItem, session: SessionView | null): string | null {
  const [words, say] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    say(null);
    if (session === null) return;
    const after = Math.max(0, session.seq - LAST);
    const path = `/api/v1/sessions/${session.id}/events?after=${after}&limit=${LAST}`;
    void get<EventPage>(path).then((answer) => {
      if (gone || answer.kind !== "ok") return;
      const said = answer.body.items.findLast(
        ({ event, at }) => event.kind === "message.ended" && at <= asked_at,
      )?.event;
      if (said?.kind !== "message.ended" || said.text.trim() === "") return;
      const text = visibleProse(said.text.trim());
      say(text.length > LONGEST ? `… ${text.slice(-LONGEST)}` : text);
    });
    return () => {
      gone = true;
    };
  }, [session, asked_at]);
  return words;
}
