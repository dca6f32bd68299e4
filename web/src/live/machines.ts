/** The machines of the server's database. The feed tells when one comes, goes or is not heard; between
 *  that, ages are counted on here. */

import { signal } from "@preact/signals";
import { get, whyNot } from "../api/client";
import type { WorkerList } from "../api/types.gen";
import { onChange } from "./feed";
import type { Watched } from "./watched";

/** An answer, and when it came: what it says of ages is as of then. */
export type Machines = { list: WorkerList; at: number };

/** What the feed calls them. */
const TOLD = "machines";
const APART_MS = 1_000;
const AGAIN_MS = 2_000;

/** `closely` for a page that shows each beat: asked for again every two seconds while somebody looks. */
export function watchMachines(closely: boolean): Watched<Machines | null> {
  const state = signal<Machines | null>(null);
  const loaded = signal(false);
  const trouble = signal<string | null>(null);
  let asked = 0;
  let asking = false;
  let stopped = false;
  let planned: ReturnType<typeof setTimeout> | null = null;
  // As of which change the answer is, and as of which it has to be.
  let current = 0;
  let needed = 0;

  async function ask(): Promise<void> {
    planned = null;
    needed = 0;
    asking = true;
    asked = Date.now();
    const answer = await get<WorkerList>("/api/v1/workers");
    asking = false;
    if (stopped) return;
    if (answer.kind === "ok") {
      state.value = { list: answer.body, at: Date.now() };
      loaded.value = true;
      trouble.value = null;
      current = answer.lists ?? 0;
    } else if (answer.kind === "failed" && answer.status < 500) trouble.value = whyNot(answer);
    if (needed > current) plan(needed);
  }

  function plan(lists = Number.POSITIVE_INFINITY): void {
    needed = Math.max(needed, lists);
    if (planned !== null || asking || stopped) return;
    planned = setTimeout(() => void ask(), Math.max(0, asked + APART_MS - Date.now()));
  }

  const unhear = onChange((names, lists = Number.POSITIVE_INFINITY) => {
    // After a new connection: what is as new as that has missed nothing.
    if (names.length > 0) {
      if (closely || names.includes(TOLD)) plan();
    } else if (current < lists) plan(lists);
  });
  const timer = setInterval(() => {
    if (asking) return; // what a busy server is late with is new enough when it comes
    const beats = closely && state.value?.list.is_shared !== false;
    if (!document.hidden && (beats || !loaded.value)) plan();
  }, AGAIN_MS);
  void ask();
  return {
    state,
    loaded,
    trouble,
    again: () => plan(),
    stop: () => {
      stopped = true;
      unhear();
      clearInterval(timer);
      if (planned !== null) clearTimeout(planned);
    },
  };
}
