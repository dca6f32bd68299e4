/** A session's cage and its traffic, folded as the server folds them (`model/cage_events.py`). */

import type { CageView, HostTraffic } from "../api/types.gen";
import type { Event } from "./types";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;
type CageEvent = Of<"cage.opened" | "cage.closed" | "cage.limit">;
type EgressEvent = Of<"egress.opened" | "egress.closed" | "egress.refused">;

const MOST_HOSTS = 100;
const OTHER_HOSTS = "other hosts";

export function cageAfter(cage: CageView | null, event: CageEvent): CageView | null {
  switch (event.kind) {
    case "cage.opened": {
      const { strength, profile, walls, limits, git = null } = event;
      return {
        strength,
        profile,
        walls,
        limits,
        git,
        is_open: true,
        limit: null,
        peak_memory_mb: null,
      };
    }
    case "cage.closed":
      return cage && { ...cage, is_open: false, peak_memory_mb: event.peak_memory_mb ?? null };
    case "cage.limit":
      return cage && { ...cage, limit: event.what };
  }
}

/** In the order in which hosts were first named. */
export function trafficAfter(
  known: readonly HostTraffic[],
  event: EgressEvent,
  time: number | null = null,
): HostTraffic[] {
  const port = event.port ?? null;
  let at = placeOf(known, event.host, port);
  const isFull = known.length >= MOST_HOSTS;
  if (at < 0 && isFull) at = placeOf(known, OTHER_HOSTS, null);
  if (at >= 0) return known.map((one, place) => (place === at ? counted(one, event, time) : one));
  const named = isFull ? { host: OTHER_HOSTS, port: null } : { host: event.host, port };
  return [...known, counted({ ...NOTHING, ...named }, event, time)];
}

const NOTHING = {
  is_open: false,
  by: null,
  connections: 0,
  sent: 0,
  received: 0,
  refused: 0,
  why: null,
  refused_at: null,
};

const placeOf = (known: readonly HostTraffic[], host: string, port: number | null) =>
  known.findIndex((one) => one.host === host && (one.port ?? null) === port);

function counted(known: HostTraffic, event: EgressEvent, time: number | null): HostTraffic {
  switch (event.kind) {
    case "egress.opened":
      return { ...known, is_open: true, by: known.host === event.host ? event.by : null };
    case "egress.closed":
      return {
        ...known,
        is_open: false,
        connections: known.connections + event.connections,
        sent: known.sent + event.sent,
        received: known.received + event.received,
      };
    case "egress.refused":
      return {
        ...known,
        refused: known.refused + (event.count ?? 1),
        why: event.why,
        refused_at: time,
      };
  }
}
