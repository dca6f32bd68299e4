/** Which cage sessions get here: told of one whose own has not opened yet. */

import { signal } from "@preact/signals";
import type { SessionView, Status } from "../api/types.gen";
import { watchList } from "../live/asked";
import { useWatched } from "../live/use";
import type { CageHere } from "./cage-words";

const NOT_ASKED = "";
const make = (path: string) =>
  path === NOT_ASKED
    ? { state: signal<Status | null>(null), stop: () => {} }
    : watchList<Status>(path);

/** Null once its own cage says what it is. */
export function useCageHere(view: Pick<SessionView, "cage_profile" | "cage">): CageHere {
  const isUnopened = view.cage_profile != null && view.cage == null;
  const status = useWatched(isUnopened ? "/api/v1/status" : NOT_ASKED, make);
  return status.state.value?.cage ?? null;
}
