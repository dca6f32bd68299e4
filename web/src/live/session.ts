/** A session: of a long one the end first, then all of it, then what comes. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Answer, get } from "../api/client";
import type { SessionView } from "../api/types.gen";
import { sessionDigest, sessionPieces } from "../state/digest";
import { NEW_SESSION, reduceSession } from "../state/session";
import type { SessionState } from "../state/types";
import { type EventPage, readBehind, resource } from "./pages";
import { type Loaded, type Watched, watch } from "./watched";

const TAIL = 400;

export type WatchedSession = Watched<SessionState> & {
  /** Whether what came before the end is still on its way. */
  earlier: ReadonlySignal<boolean>;
};

export function watchSession(id: string): WatchedSession {
  const earlier = signal(false);

  async function load(show: (state: SessionState) => void): Promise<Answer<Loaded<SessionState>>> {
    const [shown, tail] = await Promise.all([
      get<SessionView>(resource(id)),
      get<EventPage>(`${resource(id)}/events?last=${TAIL}`),
    ]);
    if (shown.kind !== "ok") return shown;
    if (tail.kind !== "ok") return tail;
    const { items } = tail.body;
    if (items[0] === undefined || items[0].seq === 1) return whole(id, items);
    // The view is the server's own until all is here: the end alone does not make one.
    show({ ...reduceSession(NEW_SESSION, items, id), view: shown.body });
    earlier.value = true;
    const all = await readBehind(id, 0);
    earlier.value = false;
    return all === null ? { kind: "lost" } : whole(id, all);
  }

  const watched = watch<SessionState>({
    stream: id,
    empty: NEW_SESSION,
    load,
    reduce: (state, events) => reduceSession(state, events, id),
    pieces: sessionPieces,
    digest: (state) => state.view && { seq: state.view.seq, digest: sessionDigest(state) },
  });
  return { ...watched, earlier };
}

function whole(id: string, events: EventPage["items"]): Answer<Loaded<SessionState>> {
  const state = reduceSession(NEW_SESSION, events, id);
  return { kind: "ok", body: { state, after: events.at(-1)?.seq ?? 0 } };
}
