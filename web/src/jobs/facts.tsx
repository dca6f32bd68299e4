/** What one should know of a job before it is started. */

import type { ComponentChildren } from "preact";
import type { RunView, TaskItem } from "../api/types.gen";
import { now } from "../live/feed";
import { Note } from "../parts/note";
import { Status } from "../parts/status";
import { runAddress } from "../start/rows";
import { costOf, workedByRun } from "../state/figures";
import { cost, duration, fully, span, visible, visibleLines, when } from "../words";
import type { Cell } from "./grid";
import { inOneSentence, policiesOf, tasksOf } from "./works";

export function About({ cell }: { cell: Cell }) {
  const told = inOneSentence(cell.job.work);
  const { description } = cell.job;
  return (
    <div>
      <h2 class="name">{visible(cell.name)}</h2>
      {description && <p class="description">{visibleLines(description)}</p>}
      {told !== null && <p class="muted">{visible(told)}</p>}
    </div>
  );
}

const WHENCE = "in successful runs";

type TilesProps = { cell: Cell; tasks: readonly TaskItem[]; runs: readonly RunView[] };

export function Tiles({ cell: { job }, tasks, runs }: TilesProps) {
  const { names, looped } = tasksOf(job.work);
  const policies = policiesOf(job.work, tasks);
  return (
    <dl class="tiles">
      <Tile name="Tasks" small={looped > 0 ? `${looped} in loops` : "each runs at most once"}>
        {names.length}
      </Tile>
      {job.stats.usual_ms != null && (
        <Tile name="Usual time" small={range(runs) ?? WHENCE}>
          {span(job.stats.usual_ms)}
        </Tile>
      )}
      {job.stats.usual_requests != null && (
        <Tile name="Usual requests" small={WHENCE}>
          {job.stats.usual_requests}
        </Tile>
      )}
      <Tile
        name="Permissions"
        small={policies.length === 1 ? briefly(policies[0]) : "depends on the task"}
      >
        {policies.map(visible).join(", ") || "…"}
      </Tile>
    </dl>
  );
}

type TileProps = { name: string; small: string; children: ComponentChildren };

function Tile({ name, small, children }: TileProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        <small>{small}</small>
      </dd>
    </div>
  );
}

function range(runs: readonly RunView[]): string | null {
  const times = runs
    .filter((run) => run.state === "succeeded" && run.ended_at != null)
    .map((run) => workedByRun(run, now.value));
  if (times.length < 2) return null;
  const [least, most] = [span(Math.min(...times)), span(Math.max(...times))];
  return least === most ? null : `${least} to ${most}`;
}

function briefly(policy: string | undefined): string {
  switch (policy) {
    case "ask":
      return "waits for your approval";
    case "read-only":
      return "reads, but changes nothing";
    case "caged":
      return "never asks, works in a cage";
    case "approve-all":
      return "never asks";
    case "deny-all":
      return "no tools that need permission";
    default:
      return "";
  }
}

/** A job may run several times at once; whoever starts it should know that it does. */
export function GoingOn({ runs }: { runs: readonly RunView[] }) {
  const open = runs.filter((run) => run.ended_at == null);
  const run = open.find((one) => one.state === "waiting-for-person") ?? open[0];
  if (run === undefined) return null;
  const waits = run.state === "waiting-for-person";
  const many = open.length === 1 ? "1 run" : `${open.length} runs`;
  const going = `${many} of this job ${open.length === 1 ? "is" : "are"} in progress`;
  return (
    <Note kind={waits ? "you" : "info"} title={`${going}${waits ? " and waiting for you" : ""}.`}>
      You can start another run. <a href={runAddress(run.job, run.id)}>Open this one</a>
    </Note>
  );
}

export function LastRuns({ runs, loaded }: { runs: readonly RunView[]; loaded: boolean }) {
  return (
    <section aria-labelledby="last-runs" aria-busy={!loaded}>
      <h2 id="last-runs">Recent runs</h2>
      {runs.length === 0 ? (
        <p class="muted">
          {loaded ? "This job has not run yet. Its runs will be listed here." : "Loading runs…"}
        </p>
      ) : (
        <table class="tbl last">
          <thead class="vh">
            <tr>
              <th>State</th>
              <th>When</th>
              <th>Worked</th>
              <th class="opt">Cost</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <td>
                  <Status state={run.state} />
                </td>
                <td>
                  <a href={runAddress(run.job, run.id)} title={fully(run.created_at)}>
                    {when(run.created_at, now.value)}
                  </a>
                </td>
                <td class="right num">{duration(workedByRun(run, now.value))}</td>
                <td class="right num muted opt">{cost(costOf(run.usage))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
