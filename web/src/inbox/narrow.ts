/** Whether list and card stand below each other: then what is open stands under its row. */

import { useEffect, useState } from "preact/hooks";

/** As in the page's sheet. */
const NARROW = "(max-width: 1000px)";

export function useNarrow(): boolean {
  const [narrow, know] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const hear = () => know(query.matches);
    hear();
    query.addEventListener("change", hear);
    return () => query.removeEventListener("change", hear);
  }, []);
  return narrow;
}
