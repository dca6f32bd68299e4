/** How large a part may be, and what a key on its bar makes of that. Pure. */

export type Limits = { min: number; max: number };

export const clamped = (size: number, { min, max }: Limits): number =>
  Math.round(Math.min(Math.max(size, min), Math.max(min, max)));

const STEP = 16;
const LONG_STEP = 64;

/** The size after a key; null where the key is not the bar's. The part lies behind the bar. */
export function stepped(
  key: string,
  shift: boolean,
  way: "v" | "h",
  size: number,
  limits: Limits,
  usual: number,
): number | null {
  const step = shift ? LONG_STEP : STEP;
  switch (key) {
    case way === "v" ? "ArrowLeft" : "ArrowUp":
      return clamped(size + step, limits);
    case way === "v" ? "ArrowRight" : "ArrowDown":
      return clamped(size - step, limits);
    case "Home":
      return limits.min;
    case "End":
      return limits.max;
    case "Enter":
      return clamped(usual, limits);
    default:
      return null;
  }
}
