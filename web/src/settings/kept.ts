/** A list that the server keeps for all: read when the page is opened, and again when we or others may
 *  have changed it. */

import { useMemo, useState } from "preact/hooks";
import { type Answer, whyNot } from "../api/client";
import { type Asked, watchAnswer } from "../live/asked";
import { useWatched } from "../live/use";
import { holdFocus } from "../parts/focus";

/** Which changes the list is read again for, by what the feed calls them. */
type Told = "settings" | "access" | "everything";

const APART_MS = 2_000;

const watchTold =
  <Body>(told: Told) =>
  (address: string): Asked<Body> =>
    told === "everything"
      ? watchAnswer(address, { apartMs: APART_MS })
      : watchAnswer(address, { apartMs: 0, heeds: (names) => names.includes(told) });

export function useKept<Item, Body extends { items: readonly Item[] } = { items: readonly Item[] }>(
  address: string,
  told: Told,
) {
  const asked = useWatched(
    address,
    useMemo(() => watchTold<Body>(told), [told]),
  );
  const [trouble, tell] = useState<string | null>(null);
  const body = asked.state.value;
  /** Whether it was done. It is read anew either way: somebody else may have changed it too. */
  const change = async (changing: Promise<Answer>): Promise<boolean> => {
    // Once a dialog that asked about it has given the focus back.
    const held = new Promise((closed) => setTimeout(closed)).then(holdFocus);
    const answer = await changing;
    tell(answer.kind === "ok" ? null : whyNot(answer));
    await asked.again();
    requestAnimationFrame(await held); // when it is drawn
    return answer.kind === "ok";
  };
  return {
    items: body?.items ?? null,
    body,
    trouble: trouble ?? asked.trouble.value,
    change,
    tell,
    again: asked.again,
  };
}
