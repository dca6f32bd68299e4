/** Which run to put beside another: those of the same job first, then by words. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import type { RunDetail, RunView } from "../api/types.gen";
import { now } from "../live/feed";
import { Status } from "../parts/status";
import { runName } from "../start/rows";
import { workedByRun } from "../state/figures";
import { duration, fully, visible, when } from "../words";
import { compareAddress } from "./page";

export function Choose({ a }: { a: string }) {
  const first = useSignal<RunDetail | null>(null);
  const runs = useSignal<readonly RunView[] | null>(null);
  const wanted = useSignal("");
  useEffect(() => {
    if (a === "") return;
    void get<RunDetail>(`/api/v1/runs/${encodeURIComponent(a)}`).then((answer) => {
      if (answer.kind === "ok") first.value = answer.body;
    });
  }, [a]);
  const job = first.value?.job;
  useEffect(() => {
    const asked = new URLSearchParams({ limit: "30" });
    if (wanted.value !== "") asked.set("text", wanted.value);
    else if (job !== undefined) asked.set("job", job);
    const timer = setTimeout(() => {
      void get<{ items: RunView[] }>(`/api/v1/runs?${asked}`).then((answer) => {
        if (answer.kind === "ok") runs.value = answer.body.items;
      });
    }, 200);
    return () => clearTimeout(timer);
  }, [job, wanted.value]);
  const others = (runs.value ?? []).filter((run) => run.id !== a);
  return (
    <section class="panel" aria-label="Choose a run">
      <header>
        <h2>
          {first.value === null ? "Choose a run" : `Compare ${visible(runName(first.value))} with`}
        </h2>
        <span class="grow" />
        <input
          class="input"
          type="search"
          aria-label="Search runs"
          placeholder="Search runs by title, job or folder"
          onInput={(event) => {
            wanted.value = event.currentTarget.value.trim();
          }}
        />
      </header>
      {runs.value !== null && others.length === 0 && (
        <p class="pad muted">
          There are no other runs of this job. To compare with a run of another job, search for it
          above.
        </p>
      )}
      <table class="tbl">
        <tbody>
          {others.map((run) => (
            <tr key={run.id}>
              <td class="nowrap">
                <Status state={run.state} />
              </td>
              <td>
                <a
                  class="quiet b"
                  href={a === "" ? compareAddress(run.id, "") : compareAddress(a, run.id)}
                >
                  {visible(runName(run))}
                </a>
                <div class="small muted cut">
                  {visible(run.cwd)}
                  {run.input_start !== "" && ` · ${visible(run.input_start)}`}
                </div>
              </td>
              <td class="right num" title={fully(run.created_at)}>
                {when(run.created_at, now.value)}
              </td>
              <td class="right num">{duration(workedByRun(run, now.value))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
