/** What the server is asked for again whenever it may have changed, until the answer is as new as that. */

import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { get, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import { onChange } from "./feed";
import type { Watched } from "./watched";

export type Asked<Body> = Omit<Watched<Body | null>, "again"> & {
  /** When the answer came, by the server's clock: what it says of ages is as of then. */
  at: ReadonlySignal<number>;
  /** Asks now; done when there was an answer that is not older than this call. */
  again: () => Promise<void>;
};

export type Terms = {
  /** Whether it matters that these changed; without this, it does. */
  heeds?: (names: readonly string[]) => boolean;
  /** At most so often because of changes. */
  apartMs?: number;
  /** So often also without a change, while it is due. */
  everyMs?: number;
  isDue?: () => boolean;
  patienceMs?: number;
};

/** Often enough to be called live, seldom enough for a busy server. */
const APART_MS = 1_000;
/** After no answer, or one that says nothing. */
const AGAIN_MS = 3_000;
const LIST_MS = 30_000;
/** Newer than any number that the server counts. */
const ANY = Number.POSITIVE_INFINITY;

/** A list that shows sessions, runs or tasks: any change may be one of it. */
export const watchList = <Body>(path: string): Asked<Body> =>
  watchAnswer(path, { everyMs: LIST_MS });

export function watchAnswer<Body>(path: string, terms: Terms = {}): Asked<Body> {
  const { heeds = () => true, apartMs = APART_MS, isDue = () => true } = terms;
  const state = signal<Body | null>(null);
  const loaded = signal(false);
  const trouble = signal<string | null>(null);
  const at = signal(0);
  let asked = 0;
  let asking: Promise<void> | null = null;
  let planned: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;
  // As of which change the answer is, and as of which it has to be.
  let current = 0;
  let needed = ANY;

  async function ask(): Promise<void> {
    const wanted = needed;
    needed = 0;
    asked = Date.now();
    const answer = await get<Body>(path, terms.patienceMs);
    asking = null;
    if (stopped) return;
    if (answer.kind === "ok") {
      batch(() => {
        state.value = answer.body;
        at.value = serverTime();
        loaded.value = true;
        trouble.value = null;
      });
      current = answer.lists ?? 0;
      if (needed > current) plan(apartMs);
      return;
    }
    // What was told before stays: how old it is, the top of the page says.
    const isNo = answer.kind === "failed" && answer.status < 500;
    if (isNo || !loaded.value) trouble.value = whyNot(answer);
    if (!isNo) needed = Math.max(needed, wanted);
    if (needed > current) plan(isNo ? apartMs : AGAIN_MS);
  }

  function begin(): Promise<void> {
    if (planned !== null) clearTimeout(planned);
    planned = null;
    asking = ask();
    return asking;
  }

  function plan(apart: number): void {
    if (planned !== null || asking !== null || stopped) return;
    planned = setTimeout(
      () => {
        planned = null;
        if (needed > current) void begin();
      },
      Math.max(0, asked + apart - Date.now()),
    );
  }

  function need(lists: number): void {
    needed = Math.max(needed, lists);
    if (needed > current) plan(apartMs);
  }

  const unhear = onChange((names, lists = ANY) => {
    // After a new connection there are no names: what is as new as that has missed nothing.
    if (names.length === 0 || heeds(names)) need(lists);
  });
  // What a busy server is late with is new enough when it comes.
  const look = () => asking === null && isDue() && need(ANY);
  const timer = terms.everyMs === undefined ? null : setInterval(look, terms.everyMs);
  void begin();
  return {
    state,
    loaded,
    trouble,
    at,
    again: async () => {
      // What is under way may have been answered before this call.
      while (asking !== null) await asking;
      if (stopped) return;
      needed = ANY;
      await begin();
    },
    stop: () => {
      stopped = true;
      unhear();
      if (timer !== null) clearInterval(timer);
      if (planned !== null) clearTimeout(planned);
    },
  };
}
