/** A list that the server keeps for all: read when the page is opened, and after each change; of one
 *  whose name the feed tells, also after somebody else's. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Answer, get, whyNot } from "../api/client";
import { onChange } from "../live/feed";

export function useKept<Item, Body extends { items: readonly Item[] } = { items: readonly Item[] }>(
  address: string,
  told?: string,
) {
  const [body, know] = useState<Body | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  /** As of which change it was read, and as of which it has to be. */
  const version = useRef<number | null>(null);
  const needed = useRef(0);
  /** `unasked` where nobody waits for it: what was read before stays then, without a word. */
  const read = async (unasked = false) => {
    const answer = await get<Body>(address);
    if (answer.kind === "ok") {
      know(answer.body);
      version.current = answer.lists ?? Number.POSITIVE_INFINITY;
      if (version.current < needed.current) void read(true);
    } else if (!unasked) tell(whyNot(answer));
  };
  /** Whether it was done. It is read anew either way: somebody else may have changed it too. */
  const change = async (changing: Promise<Answer>): Promise<boolean> => {
    const answer = await changing;
    tell(answer.kind === "ok" ? null : whyNot(answer));
    await read();
    return answer.kind === "ok";
  };
  useEffect(() => {
    void read();
    if (told === undefined) return undefined;
    return onChange((names, lists = Number.POSITIVE_INFINITY) => {
      if (names.includes(told)) void read(true);
      if (names.length > 0) return;
      // After a new connection: what is as new as that has missed nothing.
      needed.current = Number.isFinite(lists) ? lists : 0;
      if (version.current !== null && version.current < lists) void read(true);
    });
  }, []);
  return { items: body?.items ?? null, body, trouble, change, tell };
}
