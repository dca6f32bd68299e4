/** A card that has just come, or that moved because another one went, takes no decision yet: what is pressed in that
 * moment was meant for what stood there before. */

import { signal } from "@preact/signals";

/** Longer than a double click, and than it takes to notice that another card is there. */
export const CALM_MS = 500;

/** Whether all cards of the page have been where they are for long enough to be read. */
export const calm = signal(true);

let latest = 0;

/** Counted from when it is drawn: nobody has seen it before. */
export function stirred(): void {
  latest += 1;
  const mine = latest;
  calm.value = false;
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (mine === latest) calm.value = true;
    }, CALM_MS),
  );
}
