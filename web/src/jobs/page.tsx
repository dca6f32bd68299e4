/** The Jobs page: the matrix at the left, the user's input at the right. */

import { useEffect } from "preact/hooks";
import type { EntryState, JobList, Status } from "../api/types.gen";
import { useList } from "../live/use";
import { type Command, useCommands } from "../parts/commands";
import { DragBar } from "../parts/dragbar";
import { EntryNote } from "../parts/entry-note";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { editAddress } from "../parts/pages";
import { Stopped, stopped } from "../parts/stop";
import { remember } from "../storage";
import { visible } from "../words";
import { useChoice } from "./choice";
import { type Cell, cellOf, gridOf } from "./grid";
import { Matrix } from "./matrix";
import { Side } from "./side";

const NONE: JobList = { items: [], grid: [] };

export function JobsPage({ folder }: { folder: string }) {
  const jobs = useList<JobList>("/api/v1/jobs");
  const status = useList<Status>("/api/v1/status").state.value;
  const [chosen, choose] = useChoice();
  const grid = gridOf(jobs.state.value ?? NONE);
  const cell = cellOf(grid, chosen);
  useEffect(() => remember("wb", folder), [folder]);
  useCommands(
    grid.rows.flatMap(({ keyword, cells }) => cells.flatMap((at) => command(at, keyword, choose))),
  );
  if (stopped.value) return <Stopped />;
  return (
    <div class="cols jobs">
      <section class="left" aria-label="Jobs">
        <div class="matrix" aria-busy={!jobs.loaded.value}>
          <div class="ttl">
            <h1>Available Jobs</h1>
            <a class="btn sm" href={editAddress()} title="Edit the entry that has these jobs">
              <Icon name="pencil" />
              Edit
            </a>
          </div>
          <p class="small faint mono where">{about(folder, status?.entry ?? null)}</p>
          <EntryNote entry={status?.entry ?? null} open />
          {jobs.trouble.value !== null && (
            <Note kind="err" title="Could not load the jobs.">
              {visible(jobs.trouble.value)}
            </Note>
          )}
          {!jobs.loaded.value ? (
            <p class="load">
              <Icon name="clock" /> Loading jobs…
            </p>
          ) : grid.rows.length === 0 ? (
            <NoJobs />
          ) : (
            <Matrix grid={grid} chosen={cell?.job.name ?? null} onChoose={choose} />
          )}
        </div>
      </section>
      <DragBar
        name="jobs.side"
        label="Width of the right side"
        way="v"
        property="--side-w"
        usual={800}
        min={320}
      />
      <Side cell={cell} folder={folder} />
    </div>
  );
}

const command = (cell: Cell | null, keyword: string, choose: (job: string) => void): Command[] =>
  cell === null
    ? []
    : [
        {
          id: `select ${cell.job.name}`,
          label: `Select ${visible(cell.name)}`,
          about: visible(keyword),
          icon: "job",
          run: () => choose(cell.job.name),
        },
      ];

function about(folder: string, entry: EntryState | null): string {
  const where = visible(folder);
  if (entry === null) return where;
  const file = entry.path?.split(/[\\/]/).at(-1) ?? "built-in";
  const jobs = entry.jobs === 1 ? "1 job" : `${entry.jobs} jobs`;
  const tasks = entry.tasks === 1 ? "1 task" : `${entry.tasks} tasks`;
  return `${where} · entry ${visible(file)}, ${jobs}, ${tasks}`;
}

function NoJobs() {
  return (
    <div class="panel empty">
      <Icon name="job" size="big" />
      <h3>No jobs yet</h3>
      <p>
        Jobs are defined in a file named <code>airboss.yaml</code> in the root of the repository.
        Run <code>airboss init</code> to create one and <code>airboss check airboss.yaml</code> to
        find errors in it. Its jobs then appear here.
      </p>
      <p>
        <a class="btn" href={editAddress()}>
          Write one in the editor
        </a>
      </p>
    </div>
  );
}
