/** What waits for a person: watched by every page, for its counter. */

import { computed, signal } from "@preact/signals";
import { get } from "../api/client";
import type { InboxItem } from "../api/types.gen";
import { inboxDigest } from "../state/digest";
import { reduceInbox } from "../state/inbox";
import { onChange } from "./feed";
import { resource } from "./pages";
import { type Watched, watch } from "./watched";

type Inbox = { items: readonly InboxItem[]; seq: number };

let watched: Watched<Inbox> | null = null;
const begun = signal(false);

export function inbox(): Watched<Inbox> {
  if (watched === null) {
    watched = watch<Inbox>({
      stream: "inbox",
      empty: { items: [], seq: 0 },
      load: async () => {
        const answer = await get<Inbox>(resource("inbox"));
        if (answer.kind !== "ok") return answer;
        return { kind: "ok", body: { state: answer.body, after: answer.body.seq } };
      },
      reduce: (state, events) => ({
        items: reduceInbox(state.items, events),
        seq: events.at(-1)?.seq ?? state.seq,
      }),
      digest: ({ items, seq }) => (seq === 0 ? null : { seq, digest: inboxDigest(items) }),
    });
    begun.value = true;
    const { again } = watched;
    // A page that nobody looks at has no feed, and asks now and then.
    onChange((streams) => streams.length === 0 && document.hidden && again());
  }
  return watched;
}

export const waiting = computed(() =>
  begun.value && watched !== null ? watched.state.value.items.length : 0,
);
