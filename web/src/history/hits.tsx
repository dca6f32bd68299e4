/** What was said, found by words: where, and a few words around it. */

import { useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { Hit, HitPage } from "../api/types.gen";
import { now } from "../live/feed";
import { runAddress } from "../start/rows";
import { fully, visible, visibleLines, when } from "../words";
import { addressOf, NO_FILTERS } from "./filters";

const SAYS: Record<string, string> = {
  "prompt.accepted": "User",
  "message.ended": "Message",
  "reasoning.ended": "Reasoning",
  "tool.started": "Tool, arguments",
  "tool.ended": "Tool",
  "task.decided": "Decision",
  "task.accepted": "Task, input",
  "run.accepted": "Job, input",
};

export function Hits({ text }: { text: string }) {
  const [hits, know] = useState<readonly Hit[] | null>(null);
  const [cursor, goOn] = useState<string | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const read = async (after: string | null, isGone: () => boolean) => {
    const query = new URLSearchParams({ text, ...(after !== null && { cursor: after }) });
    const answer = await get<HitPage>(`/api/v1/search?${query}`);
    if (isGone()) return;
    tell(answer.kind === "ok" ? null : whyNot(answer));
    if (answer.kind !== "ok") return;
    know((old) => [...(after === null ? [] : (old ?? [])), ...answer.body.items]);
    goOn(answer.body.next_cursor ?? null);
  };
  // another text is another search
  useEffect(() => {
    let gone = false;
    know(null);
    void read(null, () => gone);
    return () => {
      gone = true;
    };
  }, [text]);
  return (
    <section class="panel gap" aria-labelledby="hits" aria-busy={hits === null && trouble === null}>
      <header>
        <h2 id="hits">In transcripts</h2>
        <span class="small muted" role="status">
          {trouble !== null && visible(trouble)}
          {trouble === null && hits === null && "Looking for it …"}
          {hits?.length === 0 && "Nobody said it in these words."}
        </span>
      </header>
      <ul class="hits">
        {hits?.map((hit) => (
          <li key={`${hit.stream} ${hit.seq}`}>
            <div class="row wrap">
              <a class="quiet b" href={placeOf(hit)}>
                {visible(hit.name) || "Untitled"}
              </a>
              <span class="small faint">{SAYS[hit.kind] ?? visible(hit.kind)}</span>
              <span class="grow" />
              <time class="small faint num" title={fully(hit.at)}>
                {when(hit.at, now.value)}
              </time>
            </div>
            <p class="snip">
              “{oneLine(hit.snippet.before)}
              <mark>{visible(hit.snippet.hit)}</mark>
              {oneLine(hit.snippet.after)}”
            </p>
          </li>
        ))}
      </ul>
      {cursor !== null && (
        <div class="pad">
          <button type="button" class="btn sm" onClick={() => void read(cursor, () => false)}>
            Show more places
          </button>
        </div>
      )}
    </section>
  );
}

/** Blanks at its ends stay: the words go on beside it. */
const oneLine = (text: string): string => visibleLines(text).replace(/\s+/g, " ");

/** A session is shown by itself, whomever it works for; what a task or a run said, with its run. A task that no job started is found in the list. */
function placeOf({ session, run, task_run, name }: Hit): string {
  if (session != null) return `/index.html?${new URLSearchParams({ session })}`;
  if (run == null && task_run != null) return addressOf({ ...NO_FILTERS, text: task_run });
  return runAddress(name, run ?? null);
}
