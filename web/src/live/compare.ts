/** Compares what a page shows with what the server would show as of the same event. */

import { get } from "../api/client";

const OFTEN_MS = 60_000;

/** Whether they are the same; an answer that does not come says nothing against it. */
export async function isSame(resource: string, seq: number, digest: string): Promise<boolean> {
  const answer = await get<{ same: boolean }>(`${resource}/digest?seq=${seq}&have=${digest}`);
  return answer.kind !== "ok" || answer.body.same;
}

/** A part of a frame: what comes in between is not late. */
const SLICE_MS = 6;

/** Does all of it, and lets the page go on after each slice. */
export async function inSlices(pieces: Iterable<void>): Promise<void> {
  let began = performance.now();
  for (const _ of pieces) {
    if (performance.now() - began < SLICE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
}

/** Every so often, a little apart so that many pages do not ask together. */
export function often(compare: () => void): () => void {
  const timer = setInterval(compare, OFTEN_MS * (0.75 + Math.random() / 2));
  return () => clearInterval(timer);
}
