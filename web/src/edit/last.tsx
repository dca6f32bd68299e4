/** The last rehearsal, below the chart: how it went, task by task. */

import { Icon, type IconName } from "../parts/icon";
import { Status } from "../parts/status";
import { clock, visible } from "../words";
import { type Rehearsals, taskInWords } from "./rehearsal";

const SIGNS: Readonly<Record<string, IconName>> = {
  succeeded: "tick",
  failed: "cross",
  canceled: "slashed",
  running: "play",
};

export function LastRehearsal({ rehearsals, text }: { rehearsals: Rehearsals; text: string }) {
  const last = rehearsals.last.value;
  const trouble = rehearsals.trouble.value;
  return (
    <section class="reh" aria-label="Last rehearsal">
      {trouble !== null && (
        <p class="trouble" role="alert">
          {visible(trouble)}
        </p>
      )}
      {last === null ? (
        <div class="row">
          <b>{rehearsals.isStarting.value ? "Starting a rehearsal…" : "Not rehearsed yet"}</b>
        </div>
      ) : (
        <>
          <div class="row wrap">
            <b>{last.told.state === "running" ? "Rehearsal" : "Last rehearsal"}</b>
            <span class="small muted">
              {visible(last.told.job)}, {clock(last.told.started_at).slice(0, 5)}
              {last.text !== text && ", the version before this one"}
            </span>
            <span class="grow" />
            <span role="status">
              <Status state={last.told.state} />
            </span>
            {last.told.state === "running" && (
              <button type="button" class="btn sm" onClick={() => void rehearsals.cancel()}>
                Cancel
              </button>
            )}
          </div>
          {last.told.reason != null && last.told.reason !== "" && (
            <p class="reason">{visible(last.told.reason)}</p>
          )}
          <ul>
            {last.told.tasks.map((task, at) => (
              <li key={`${at} ${task.name}`} class={task.state}>
                <Icon name={SIGNS[task.state] ?? "clock"} size="s" />
                <span class="cut">
                  {visible(task.name)}
                  <span class="vh">, {task.state}</span>
                </span>
                <span class="num">{taskInWords(task, last.told.state !== "running")}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="hint">
        A rehearsal runs the job with scripted answers. It costs nothing and changes no file.
      </p>
    </section>
  );
}
