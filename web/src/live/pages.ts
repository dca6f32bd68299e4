/** Streams by v1's pages of JSON: where no stream comes through, and for what lies far back. */

import { get } from "../api/client";
import type { Recorded } from "../state/types";

const KINDS: Record<string, string> = { ses: "sessions", run: "runs", tsk: "task-runs" };
const PAGE = 1_000;

/** Where v1 has this stream. */
export function resource(stream: string): string {
  return stream === "inbox" ? "/api/v1/inbox" : `/api/v1/${KINDS[stream.slice(0, 3)]}/${stream}`;
}

export type EventPage = { items: Recorded[]; next_after: number; seq: number; more: boolean };

/** All that came behind `after`; null where the server did not answer. */
export async function readBehind(stream: string, after: number): Promise<Recorded[] | null> {
  const found: Recorded[] = [];
  const compact = stream.startsWith("ses") ? "&compact=true" : "";
  for (let more = true, behind = after; more; ) {
    const query = `after=${behind}&limit=${PAGE}${compact}`;
    const answer = await get<EventPage>(`${resource(stream)}/events?${query}`);
    if (answer.kind !== "ok") return null;
    found.push(...answer.body.items);
    more = answer.body.more;
    behind = answer.body.next_after;
  }
  return found;
}
