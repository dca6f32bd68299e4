/** Asks for the models until they are there: the first time, the agent runtime has to start for it. */

import { useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { ModelList } from "../api/types.gen";
import { byName, type Offer } from "./models";

export type Offers = {
  /** Null while nobody has answered. */
  list: readonly Offer[] | null;
  /** Whose they are, by id. */
  sources: ReadonlyMap<string, string>;
  trouble: string | null;
  again: () => void;
};

const PATIENCE_MS = 60_000;
const AGAIN_MS = 3_000;
const NOTHING = { list: null, sources: new Map<string, string>(), trouble: null };

export function useOffers(): Offers {
  const [asked, ask] = useState(0);
  const [known, know] = useState<Omit<Offers, "again">>(NOTHING);
  useEffect(() => {
    let left = false;
    let planned: ReturnType<typeof setTimeout> | undefined;
    async function round(): Promise<void> {
      const answer = await get<{ models: readonly Offer[] }>("/api/copilot/models", PATIENCE_MS);
      if (left) return;
      if (answer.kind !== "ok") {
        know({ ...NOTHING, trouble: whyNot(answer) });
        planned = setTimeout(() => void round(), AGAIN_MS);
        return;
      }
      know({ ...NOTHING, list: byName(answer.body.models) });
      const more = await get<ModelList>("/api/v1/models", PATIENCE_MS);
      if (left || more.kind !== "ok") return;
      const sources = new Map(more.body.items.map((model) => [model.id, model.source]));
      know((before) => ({ ...before, sources }));
    }
    void round();
    return () => {
      left = true;
      clearTimeout(planned);
    };
  }, [asked]);
  return { ...known, again: () => ask(asked + 1) };
}
