/** The right part: what the selected job is, what it needs to know, and its start. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { RunList, TaskList } from "../api/types.gen";
import { useList } from "../live/use";
import { Barred } from "../parts/barred";
import { Icon } from "../parts/icon";
import { runAddress } from "../start/rows";
import { visible } from "../words";
import { type Begun, begin } from "./begin";
import { useDraft } from "./choice";
import { About, GoingOn, LastRuns, Tiles } from "./facts";
import type { Cell } from "./grid";
import { Input } from "./input";
import { Outcome } from "./outcome";

type Props = { cell: Cell | null; folder: string };

export function Side({ cell, folder }: Props) {
  const [text, write] = useDraft(folder, cell?.job.name ?? null);
  const [starting, setStarting] = useState(false);
  const [begun, setBegun] = useState<(Begun & { job: string }) | null>(null);
  const tasks = useList<TaskList>("/api/v1/tasks").state.value?.items ?? [];

  async function start(): Promise<void> {
    if (cell === null || starting || mayNot("operate") !== null) return;
    setStarting(true);
    setBegun(null);
    const input = cell.job.requireUserInput ? text : "";
    const came = await begin({ job: cell.job.name, input, cwd: folder });
    setStarting(false);
    setBegun({ ...came, job: cell.job.name });
    if (came.kind === "not") return;
    write("");
    location.assign(came.address);
  }

  const input = (
    <>
      {cell?.job.requireUserInput && (
        <Input cell={cell} tasks={tasks} text={text} onWrite={write} onStart={() => void start()} />
      )}
      <Barred needs="operate" />
      {begun !== null && begun.job === cell?.job.name && <Outcome begun={begun} />}
    </>
  );
  return (
    <section class="side" aria-label="User input">
      <div class="in">
        {cell === null ? (
          <div>
            <h2 class="name">Select a job</h2>
            <p class="muted">
              See what a job does, how long it usually takes and how its recent runs ended.
            </p>
          </div>
        ) : (
          <Selected key={cell.job.name} cell={cell} tasks={tasks}>
            {input}
          </Selected>
        )}
      </div>
      <Foot cell={cell} starting={starting} onStart={() => void start()} />
    </section>
  );
}

const LAST = 5;

type SelectedProps = { cell: Cell; tasks: TaskList["items"]; children: ComponentChildren };

function Selected({ cell, tasks, children }: SelectedProps) {
  const query = new URLSearchParams({ job: cell.job.name, limit: String(LAST) });
  const list = useList<RunList>(`/api/v1/runs?${query}`);
  const runs = list.state.value?.items ?? [];
  return (
    <>
      <About cell={cell} />
      <Tiles cell={cell} tasks={tasks} runs={runs} />
      {children}
      <GoingOn runs={runs} />
      <LastRuns runs={runs} loaded={list.loaded.value} />
    </>
  );
}

type FootProps = { cell: Cell | null; starting: boolean; onStart: () => void };

function Foot({ cell, starting, onStart }: FootProps) {
  if (cell === null) {
    return (
      <div class="foot">
        <span class="grow" />
        <button type="button" class="btn primary big" disabled title="Select a job first">
          Job Not Selected
        </button>
      </div>
    );
  }
  return (
    <div class="foot">
      <a class="btn big" href={runAddress(cell.job.name, null)}>
        <Icon name="job" />
        Preview
      </a>
      <span class="grow" />
      {starting && <span class="small faint">Starting…</span>}
      <button
        type="button"
        class="btn primary big"
        disabled={starting}
        {...barred("operate")}
        onClick={onStart}
      >
        <Icon name="play" />
        <span class="cut">Start Job: {visible(cell.name)}</span>
      </button>
    </div>
  );
}
