/** The sizes in which a chart is shown. */

export const LEAST = 0.2;
export const MOST = 3;
const STEP = 0.1;

/** In steps of a tenth, and no finer: sums of tenths are not. */
export const zoomed = (zoom: number): number =>
  Math.min(MOST, Math.max(LEAST, Math.round(zoom / STEP) / 10));

export const stepOf = (zoom: number, by: 1 | -1): number => zoomed(zoom + by * STEP);

type Size = { width: number; height: number };

/** The largest in which all of it can be seen; one is never made larger than it is. */
export function fitting(chart: Size, room: Size): number {
  const share = Math.min(1, room.width / chart.width, room.height / chart.height);
  return Math.max(LEAST, Math.floor(share * 10 + 1e-9) / 10);
}

const READABLE = 0.8;
const LEGIBLE = 0.5;

/** As a whole where that can be read; else as wide as the room, and scrolled down. */
export function opening(chart: Size, room: Size): number {
  const wide = fitting({ ...chart, height: 1 }, room);
  return Math.max(LEGIBLE, fitting(chart, room), Math.min(READABLE, wide));
}
