/** A list of the server's, asked for again whenever something changed. */

import { signal } from "@preact/signals";
import { get, whyNot } from "../api/client";
import { onChange } from "./feed";
import type { Watched } from "./watched";

/** Often enough to be called live, seldom enough for a busy server. */
const APART_MS = 1_000;
const OFTEN_MS = 30_000;

export function watchList<Body>(path: string): Watched<Body | null> {
  const state = signal<Body | null>(null);
  const loaded = signal(false);
  const trouble = signal<string | null>(null);
  let asked = 0;
  let asking = false;
  let planned: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;
  // As of which change the list is, and as of which it has to be.
  let current = 0;
  let needed = 0;

  async function ask(): Promise<void> {
    planned = null;
    if (loaded.value && current >= needed) return;
    needed = 0;
    asking = true;
    asked = Date.now();
    const answer = await get<Body>(path);
    asking = false;
    if (stopped) return;
    if (answer.kind === "ok") {
      state.value = answer.body;
      loaded.value = true;
      trouble.value = null;
      current = answer.lists ?? 0;
    } else if (answer.kind === "failed" && answer.status < 500) {
      trouble.value = whyNot(answer);
    } else if (!loaded.value) needed = Number.POSITIVE_INFINITY;
    if (needed > 0) plan();
  }

  function plan(): void {
    if (planned !== null || asking || stopped) return;
    planned = setTimeout(() => void ask(), Math.max(0, asked + APART_MS - Date.now()));
  }

  function need(lists = Number.POSITIVE_INFINITY): void {
    needed = Math.max(needed, lists);
    plan();
  }

  const unhear = onChange((_streams, lists) => need(lists));
  const timer = setInterval(() => need(), OFTEN_MS);
  void ask();
  return {
    state,
    loaded,
    trouble,
    again: () => need(),
    stop: () => {
      stopped = true;
      unhear();
      clearInterval(timer);
      if (planned !== null) clearTimeout(planned);
    },
  };
}
