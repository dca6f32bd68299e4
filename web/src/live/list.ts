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
  let planned: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;

  async function ask(): Promise<void> {
    planned = null;
    asked = Date.now();
    const answer = await get<Body>(path);
    if (stopped) return;
    if (answer.kind === "ok") {
      state.value = answer.body;
      loaded.value = true;
      trouble.value = null;
    } else if (answer.kind === "failed" && answer.status < 500) {
      trouble.value = whyNot(answer);
    } else if (!loaded.value) plan();
  }

  function plan(): void {
    if (planned !== null || stopped) return;
    planned = setTimeout(() => void ask(), Math.max(0, asked + APART_MS - Date.now()));
  }

  const unhear = onChange(plan);
  const timer = setInterval(plan, OFTEN_MS);
  void ask();
  return {
    state,
    loaded,
    trouble,
    again: plan,
    stop: () => {
      stopped = true;
      unhear();
      clearInterval(timer);
      if (planned !== null) clearTimeout(planned);
    },
  };
}
