/** What was drawn before and has not changed is handed over again as it is: drawing it costs nothing. */

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

export type Keep = (key: string, looks: string, draw: () => VNode) => VNode;

/** Kept as long as `of` stays the same. `looks` says all that what is drawn depends on. */
export function useKept(of: unknown): Keep {
  return useMemo(() => {
    const kept = new Map<string, { looks: string; drawn: VNode }>();
    return (key, looks, draw) => {
      const known = kept.get(key);
      if (known?.looks === looks) return known.drawn;
      const drawn = draw();
      kept.set(key, { looks, drawn });
      return drawn;
    };
  }, [of]);
}
