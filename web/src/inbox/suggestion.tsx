/** One quiet line: what was allowed so often that a rule could do it, and how many that decides now. */

import { useState } from "preact/hooks";
import { post, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import { barred } from "../api/role";
import type { InboxItem } from "../api/types.gen";
import { ruleInWords } from "../parts/asking";
import { Icon } from "../parts/icon";
import { remember, remembered } from "../storage";
import { visibleLines } from "../words";
import { type Suggestion, suggestionOf } from "./suggest";

const REFUSED = "suggestions.refused";
const MOST_REFUSED = 50;

const refusedBefore = (): readonly string[] => (remembered(REFUSED) ?? "").split("\n");

export function SuggestionLine({
  events,
  items,
}: {
  events: Parameters<typeof suggestionOf>[0];
  items: readonly InboxItem[];
}) {
  const [refused, refuse] = useState(refusedBefore);
  const [trouble, tell] = useState<string | null>(null);
  const found = suggestionOf(events, items, serverTime(), new Set(refused));
  if (found === null) return null;
  const never = () => {
    const all = [...refused, found.id].slice(-MOST_REFUSED);
    remember(REFUSED, all.join("\n"));
    refuse(all);
  };
  const write = async () => {
    const wrong = await written(found);
    tell(wrong);
    if (wrong === null) never(); // it is a rule now
  };
  const count = found.now.length;
  return (
    <section class="panel suggestion" aria-label="Suggestion">
      <Icon name="info" />
      <p class="grow">
        You allowed requests like this {found.allowed} times today. The rule{" "}
        <code>{ruleInWords(found.rule)}</code>{" "}
        {count === 0 ? (
          "would allow them from now on."
        ) : (
          <>
            would also allow{" "}
            <b>{count === 1 ? "1 of the requests below" : `${count} of the requests below`}</b>.
          </>
        )}
      </p>
      <button type="button" class="btn sm" {...barred("own")} onClick={() => void write()}>
        Add rule
      </button>
      <button type="button" class="btn ghost sm" onClick={never}>
        Not now
      </button>
      {trouble !== null && (
        <p class="trouble" role="alert">
          {visibleLines(trouble)}
        </p>
      )}
    </section>
  );
}

/** The rule holds for what is asked from now on; what waits already is allowed by hand. */
async function written({ rule, now }: Suggestion): Promise<string | null> {
  const kept = await post("/api/v1/rules", { rule });
  if (kept.kind !== "ok") return whyNot(kept);
  for (const { id } of now) {
    const path = `/api/v1/inbox/${encodeURIComponent(id)}/decision`;
    const answer = await post(path, { choice: "allow-once" });
    const late = answer.kind === "failed" && [404, 409].includes(answer.status);
    if (answer.kind !== "ok" && !late) return whyNot(answer);
  }
  return null;
}
