/** A list that the server keeps for all: read when the page is opened, and after each change. */

import { useEffect, useState } from "preact/hooks";
import { type Answer, get, whyNot } from "../api/client";

export function useKept<Item>(address: string) {
  const [items, know] = useState<readonly Item[] | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const read = async () => {
    const answer = await get<{ items: readonly Item[] }>(address);
    if (answer.kind === "ok") know(answer.body.items);
    else tell(whyNot(answer));
  };
  /** Whether it was done. It is read anew either way: somebody else may have changed it too. */
  const change = async (changing: Promise<Answer>): Promise<boolean> => {
    const answer = await changing;
    tell(answer.kind === "ok" ? null : whyNot(answer));
    await read();
    return answer.kind === "ok";
  };
  useEffect(() => void read(), []);
  return { items, trouble, change, tell };
}
