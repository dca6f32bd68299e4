/** Which blocks of a long conversation stand in the page: those in view, and some on both sides. */

export type Span = { first: number; end: number; above: number; below: number };

/** As many as this are in the page at once, whatever their heights. */
export const MOST = 240;

/** How far beyond the view, in pixels, blocks are kept ready. */
const MARGIN = 1_200;

/** The span around a view of `height` pixels that begins `top` pixels below the first block. */
export function spanAround(heights: readonly number[], top: number, height: number): Span {
  let first = 0;
  let above = 0;
  while (first < heights.length - 1 && above + (heights[first] ?? 0) < top - MARGIN) {
    above += heights[first] ?? 0;
    first += 1;
  }
  let end = first;
  let reached = above;
  while (end < heights.length && reached < top + height + MARGIN && end - first < MOST) {
    reached += heights[end] ?? 0;
    end += 1;
  }
  return { first, end, above, below: sum(heights, end) };
}

/** The span at the end of the conversation. */
export function spanAtEnd(heights: readonly number[], height: number): Span {
  let first = heights.length;
  let reached = 0;
  while (first > 0 && reached < height + MARGIN && heights.length - first < MOST) {
    first -= 1;
    reached += heights[first] ?? 0;
  }
  let above = 0;
  for (let at = 0; at < first; at += 1) above += heights[at] ?? 0;
  return { first, end: heights.length, above, below: 0 };
}

/** The blocks from one on, for a view that is to begin there. */
export function spanFrom(heights: readonly number[], at: number, height: number): Span {
  let above = 0;
  for (let n = 0; n < at; n += 1) above += heights[n] ?? 0;
  return spanAround(heights, above, height);
}

function sum(heights: readonly number[], from: number): number {
  let total = 0;
  for (let at = from; at < heights.length; at += 1) total += heights[at] ?? 0;
  return total;
}
