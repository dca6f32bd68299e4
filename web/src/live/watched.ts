/** What a page watches: loaded once, then told what comes; compared, and healed where it differs. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Answer, whyNot } from "../api/client";
import type { Recorded } from "../state/types";
import { inSlices, isSame, often } from "./compare";
import { follow } from "./feed";
import { resource } from "./pages";

export type Watched<State> = {
  state: ReadonlySignal<State>;
  /** Whether the first whole answer is there. */
  loaded: ReadonlySignal<boolean>;
  /** Why it cannot be shown, in the server's words: not found, or refused. */
  trouble: ReadonlySignal<string | null>;
  /** Asks again at once. */
  again: () => void;
  stop: () => void;
};

/** A state, and the seq of the last event in it. */
export type Loaded<State> = { state: State; after: number };

export type Source<State> = {
  stream: string;
  empty: State;
  /** The whole state. What it shows on the way there is better than nothing, and no more. */
  load: (show: (state: State) => void) => Promise<Answer<Loaded<State>>>;
  reduce: (state: State, events: Recorded[]) => State;
  /** What is loaded is the server's own answer, and nothing is worked out of it here. */
  isAnswer?: boolean;
  /** What the digest of a long state takes, a little at a time. */
  pieces?: (state: State) => Iterable<void>;
  /** The seq that a comparison is for, and the state's digest; null while there is nothing. */
  digest: (state: State) => { seq: number; digest: string } | null;
};

const AGAIN_MS = 1_000;
/** What was just loaded, or caught up, is compared when the page has been painted. */
const LOOK_MS = 500;

export function watch<State>(source: Source<State>): Watched<State> {
  const state = signal(source.empty);
  const loaded = signal(false);
  const trouble = signal<string | null>(null);
  let unfollow = () => {};
  // As the server told it; nothing was made of it here that could differ.
  let answer: State | null = null;
  // Counts the beginnings: what an earlier one still hears is not for this one.
  let life = 0;
  let soon: ReturnType<typeof setTimeout> | undefined;

  async function begin(): Promise<void> {
    life += 1;
    const mine = life;
    const show = (shown: State) => {
      if (mine !== life || loaded.value) return;
      state.value = shown;
      loaded.value = true;
    };
    const came = await source.load(show);
    if (mine !== life) return;
    if (came.kind === "ok") return hearBehind(came.body, mine);
    if (came.kind === "failed" && came.status < 500) {
      trouble.value = whyNot(came);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    if (mine === life) await begin();
  }

  function hearBehind(all: Loaded<State>, mine: number): void {
    unfollow();
    trouble.value = null;
    state.value = all.state;
    answer = source.isAnswer ? all.state : null;
    loaded.value = true;
    unfollow = follow(source.stream, all.after, {
      hear: (events) => {
        if (mine === life) state.value = source.reduce(state.value, events);
      },
      caughtUp: () => compareSoon(mine),
      gone: () => {
        trouble.value = "It does not exist. It may have been deleted.";
      },
    });
    compareSoon(mine);
  }

  function compareSoon(mine: number): void {
    clearTimeout(soon);
    if (state.value === answer) return;
    soon = setTimeout(() => void compare(mine), LOOK_MS);
  }

  async function compare(mine: number): Promise<void> {
    if (mine !== life) return;
    await inSlices(source.pieces?.(state.value) ?? []);
    const ours = source.digest(state.value);
    if (ours === null || mine !== life || trouble.value !== null) return;
    const same = await isSame(resource(source.stream), ours.seq, ours.digest);
    if (!same && mine === life) void begin();
  }

  const stopComparing = often(() => void compare(life));
  void begin();
  return {
    state,
    loaded,
    trouble,
    again: () => void begin(),
    stop: () => {
      life += 1;
      unfollow();
      clearTimeout(soon);
      stopComparing();
    },
  };
}
