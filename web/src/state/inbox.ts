/** What waits for a person, over all sessions (`model/inbox.py`). Pure. */

import type { InboxItem } from "../api/types.gen";
import type { Recorded } from "./types";

export function reduceInbox(
  items: readonly InboxItem[],
  events: readonly Recorded[],
): readonly InboxItem[] {
  const waiting = new Map(items.map((item) => [item.id, item]));
  for (const { event } of events) {
    if (event.kind === "inbox.arrived") waiting.set(event.item.id, event.item);
    else if (event.kind === "inbox.settled") waiting.delete(event.item);
  }
  return [...waiting.values()];
}
