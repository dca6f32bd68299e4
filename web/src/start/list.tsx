/** What goes on and what was: runs, tasks and sessions, each with a way in. */

import type { RunView, SessionView, TaskRunView } from "../api/types.gen";
import { fresh, now } from "../live/feed";
import { useList } from "../live/use";
import { Icon } from "../parts/icon";
import { Status } from "../parts/status";
import { ago, clock, duration, fully } from "../words";
import { listed, type Row, rowOfRun, rowOfSession, rowOfTask } from "./rows";
import { Sample } from "./sample";

type Page<Item> = { items: readonly Item[]; next_cursor?: string | null };

// What goes on may be older than what was last begun, so both are asked for.
const OPEN_RUNS = "/api/v1/runs?state=waiting&state=running&state=waiting-for-person&limit=50";
const LAST_RUNS = "/api/v1/runs?limit=20";
const OPEN_TASKS = "/api/v1/task-runs?alone=true&state=running&limit=50";
const LAST_TASKS = "/api/v1/task-runs?alone=true&limit=20";
const OPEN_SESSIONS = "/api/v1/sessions?of=person&state=opening&state=working&limit=50";
const LAST_SESSIONS = "/api/v1/sessions?of=person&limit=20";

const PINNED_SESSIONS = "/api/v1/sessions?of=person&pinned=true&limit=8";

type Props = { folder: string | null; names: ReadonlyMap<string, string> };

export function Lists({ folder, names }: Props) {
  const runs = [useList<Page<RunView>>(OPEN_RUNS), useList<Page<RunView>>(LAST_RUNS)];
  const tasks = [useList<Page<TaskRunView>>(OPEN_TASKS), useList<Page<TaskRunView>>(LAST_TASKS)];
  const sessions = [
    useList<Page<SessionView>>(OPEN_SESSIONS),
    useList<Page<SessionView>>(LAST_SESSIONS),
    useList<Page<SessionView>>(PINNED_SESSIONS),
  ];
  const all = [...runs, ...tasks, ...sessions];
  if (!all.every((list) => list.loaded.value)) {
    return (
      <section class="start-list" aria-busy="true">
        <header>
          <h2>Running and recent</h2>
        </header>
        <p class="load">
          <Icon name="clock" />{" "}
          {all.find((list) => list.trouble.value)?.trouble.value ?? "Loading runs and sessions…"}
        </p>
      </section>
    );
  }
  const { running, recent } = listed([
    ...runs.flatMap((list) => list.state.value?.items ?? []).map((run) => rowOfRun(run, now.value)),
    ...tasks
      .flatMap((list) => list.state.value?.items ?? [])
      .map((task) => rowOfTask(task, now.value)),
    ...sessions
      .flatMap((list) => list.state.value?.items ?? [])
      .filter((session) => session.task == null)
      .map((session) => rowOfSession(session, names)),
  ]);
  if (running.length + recent.length === 0) return <Sample folder={folder} />;
  const stale = fresh.value.kind === "stale" || fresh.value.kind === "unreachable";
  return (
    <>
      {running.length > 0 && (
        <section class="start-list" aria-labelledby="running">
          <header>
            <h2 id="running">Running</h2>
          </header>
          <Rows rows={running} stale={stale} />
        </section>
      )}
      {recent.length > 0 && (
        <section class="start-list" aria-labelledby="recent">
          <header>
            <h2 id="recent">Recent</h2>
            <a href="/history.html" class="small">
              View all in History
            </a>
          </header>
          <Rows rows={recent} stale={stale} />
        </section>
      )}
    </>
  );
}

function Rows({ rows, stale }: { rows: readonly Row[]; stale: boolean }) {
  return (
    <ul class="runs panel">
      {rows.map((row) => (
        <li key={row.id}>
          <Status state={row.state} stale={stale} />
          <div class="what cut">
            {row.pinned === true && (
              <>
                <Icon name="pin" size="s" /> <span class="vh">Pinned: </span>
              </>
            )}
            {row.href === null ? (
              <span title={row.name}>{row.name}</span>
            ) : (
              <a href={row.href} title={row.name}>
                {row.name}
              </a>
            )}
            <small class="cut" title={row.about}>
              {row.about}
            </small>
          </div>
          <time class="num opt" dateTime={new Date(row.at).toISOString()} title={fully(row.at)}>
            {row.goesOn ? clock(row.at) : ago(row.at, now.value)}
          </time>
          <span class="num" title="Working time, without waiting">
            {duration(row.milliseconds)}
          </span>
          <span class="num opt" title="Cost so far">
            {row.cost}
          </span>
        </li>
      ))}
    </ul>
  );
}
