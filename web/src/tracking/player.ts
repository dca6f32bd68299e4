/** The moment that is looked at: dragged to, stepped to, or played. Null is now, or the end. */

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { RunDetail } from "../api/types.gen";
import { known } from "../live/feed";
import { momentsOf, stepFrom } from "./past";
import type { Wait } from "./said";

export const SPEEDS = [1, 2, 5, 10, 25, 50] as const;

const at = signal<number | null>(null);
const playing = signal(false);
const speed = signal(10);

export type Player = {
  at: number | null;
  now: number;
  isPlaying: boolean;
  speed: number;
  goTo: (at: number) => void;
  step: (by: 1 | -1) => void;
  toggle: () => void;
  leave: () => void;
  setSpeed: (speed: number) => void;
  faster: (by: 1 | -1) => void;
};

export function usePlayer(run: RunDetail, waits: readonly Wait[]): Player {
  const end = run.ended_at ?? Math.max(known.value, run.updated_at);
  const moments = useMemo(() => momentsOf(run, waits), [run, waits]);
  const leave = () => {
    playing.value = false;
    at.value = null;
  };
  const goTo = (to: number) => {
    if (to >= end) leave();
    else at.value = Math.max(run.created_at, to);
  };
  useEffect(() => {
    if (!playing.value) return undefined;
    let before = performance.now();
    let frame = requestAnimationFrame(function tick(time) {
      const next = (at.value ?? run.created_at) + (time - before) * speed.value;
      before = time;
      goTo(next);
      if (playing.value) frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing.value, end]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Escape" && at.value !== null && !event.defaultPrevented) leave();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return {
    at: at.value,
    now: end,
    isPlaying: playing.value,
    speed: speed.value,
    goTo,
    leave,
    step: (by) => {
      const to = stepFrom(moments, at.value ?? end, by);
      if (to === null) leave();
      else goTo(to);
    },
    toggle: () => {
      if (!playing.value && at.value === null) at.value = run.created_at;
      playing.value = !playing.value;
    },
    setSpeed: (to) => {
      speed.value = to;
    },
    faster: (by) => {
      const place = SPEEDS.indexOf(speed.value as (typeof SPEEDS)[number]);
      speed.value = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place + by))] ?? 10;
    },
  };
}

/** What else shows the run asks for it here. */
export const past = at;
export const isPast = computed(() => at.value !== null);

/** What is costly to draw follows a moving moment at this distance. */
const BEHIND_MS = 330;

/** The moment that is looked at, not more often than somebody can read what was said then. */
export const slowPast = signal<number | null>(null);
/** Whether the moment was moved just now. */
export const isMoving = signal(false);

let timer: ReturnType<typeof setTimeout> | undefined;

function catchUp(): void {
  timer = undefined;
  if (slowPast.peek() === at.peek()) {
    isMoving.value = false;
    return;
  }
  slowPast.value = at.peek();
  timer = setTimeout(catchUp, BEHIND_MS);
}

effect(() => {
  const to = at.value;
  if (to === null) {
    clearTimeout(timer);
    timer = undefined;
    slowPast.value = null;
    isMoving.value = false;
  } else if (timer === undefined) {
    isMoving.value = true;
    slowPast.value = to;
    timer = setTimeout(catchUp, BEHIND_MS);
  }
});

/** Goes to a moment from outside of the timeline. */
export function goToMoment(to: number): void {
  playing.value = false;
  at.value = to;
}
