/** The first thing to do for whoever is here for the first time. */

import { useRef, useState } from "preact/hooks";
import { type Answer, post, whyNot } from "../api/client";
import { newKey } from "../api/keys";
import { barred } from "../api/role";
import type { JobList, RunView } from "../api/types.gen";
import { useList } from "../live/use";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import { runAddress } from "./rows";

const SAMPLE = "sample";

export function Sample({ folder }: { folder: string | null }) {
  const jobs = useList<JobList>("/api/v1/jobs");
  const [trouble, setTrouble] = useState<Exclude<Answer, { kind: "ok" }> | null>(null);
  const [starting, setStarting] = useState(false);
  const key = useRef(newKey());
  const there = jobs.state.value?.items.some(({ name }) => name === SAMPLE) ?? false;
  const query = new URLSearchParams({ wb: folder ?? "" });

  async function start(): Promise<void> {
    setStarting(true);
    setTrouble(null);
    const wish = { job: SAMPLE, cwd: folder };
    const answer = await post<RunView>("/api/v1/runs", wish, { "Idempotency-Key": key.current });
    if (answer.kind === "ok") {
      location.assign(runAddress(SAMPLE, answer.body.id));
      return;
    }
    if (answer.kind !== "lost") key.current = newKey();
    setStarting(false);
    setTrouble(answer);
  }

  return (
    <section class="start-list" aria-labelledby="first" aria-busy={!jobs.loaded.value}>
      <header>
        <h2 id="first">Running and recent</h2>
      </header>
      <div class="panel empty">
        <Icon name="job" size="big" />
        <h3>Nothing has run yet</h3>
        {there ? (
          <>
            <p>
              Try the sample job: two agents at a time explore the folder and suggest what to do
              first. It takes about a minute, and it does not change any files. You can follow each
              step live.
            </p>
            <p class="row wrap centred">
              <button
                type="button"
                class="btn primary"
                disabled={starting || folder === null}
                {...barred("operate")}
                onClick={() => void start()}
              >
                <Icon name="play" />
                {starting ? "Starting…" : "Run the sample job"}
              </button>
              <a class="btn ghost" href={`/jobs.html?${query}#job=${SAMPLE}`}>
                See what it does
              </a>
            </p>
          </>
        ) : (
          <p>
            Start a session above, or open <a href={`/jobs.html?${query}`}>Jobs</a> and run one.
            Your sessions and runs are listed here.
          </p>
        )}
        {trouble !== null && (
          <Note kind="err" title="Could not start the sample job.">
            {visible(whyNot(trouble))}
          </Note>
        )}
      </div>
    </section>
  );
}
