/** Keys that count only while a card itself has focus: no key may decide beside what one looks at. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** `press` says whether the key was its own. */
export function useCardKeys(
  card: RefObject<HTMLElement | null>,
  open: boolean,
  press: (key: string) => boolean,
): void {
  // Not a frame later: who sees it may press at once.
  useLayoutEffect(() => {
    const element = card.current;
    if (!open || element === null) return;
    const hear = (event: KeyboardEvent) => {
      if (event.target !== element || event.repeat) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (press(event.key.toLowerCase())) event.preventDefault();
    };
    element.addEventListener("keydown", hear);
    return () => element.removeEventListener("keydown", hear);
  });
}
