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
