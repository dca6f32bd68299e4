/** The machines of the server's database. The feed tells when one comes, goes or is not heard; between
 *  that, ages are counted on here. */

import { computed } from "@preact/signals";
import type { WorkerList } from "../api/types.gen";
import { type Asked, watchAnswer } from "./asked";
import type { Watched } from "./watched";

/** An answer, and when it came: what it says of ages is as of then. */
export type Machines = { list: WorkerList; at: number };

/** What the feed calls them. */
const TOLD = "machines";
const BEAT_MS = 2_000;

/** `closely` for a page that shows each beat: asked for again every two seconds while somebody looks. */
export function watchMachines(closely: boolean): Watched<Machines | null> {
  const asked: Asked<WorkerList> = watchAnswer("/api/v1/workers", {
    heeds: (names) => closely || names.includes(TOLD),
    everyMs: BEAT_MS,
    isDue: () => closely && !document.hidden && asked.state.peek()?.is_shared !== false,
  });
  const state = computed(() => {
    const list = asked.state.value;
    return list === null ? null : { list, at: asked.at.value };
  });
  return { ...asked, state };
}
