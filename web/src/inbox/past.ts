/** What was decided today, from the last events of the inbox. Pure. */

import type { InboxItem, InboxSettled } from "../api/types.gen";
import type { Recorded } from "../state/types";

export type Past = { id: string; at: number; settled: InboxSettled; item: InboxItem | null };

const SHOWN = 12;

/** The newest first. An item whose arrival was too long ago has no title any more. */
export function pastOf(events: readonly Recorded[], now: number): Past[] {
  const arrived = new Map<string, InboxItem>();
  const past: Past[] = [];
  const today = new Date(now).toDateString();
  for (const { event, at } of events) {
    if (event.kind === "inbox.arrived") arrived.set(event.item.id, event.item);
    if (event.kind !== "inbox.settled" || new Date(at).toDateString() !== today) continue;
    past.push({ id: event.item, at, settled: event, item: arrived.get(event.item) ?? null });
  }
  return past.toReversed().slice(0, SHOWN);
}
