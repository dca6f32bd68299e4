/** All machines that work on the same database: who lives, who is not heard, and what each has. */

import { useState } from "preact/hooks";
import { type Answer, post, remove, whyNot } from "../api/client";
import type { WaitingRun, WorkerFacts, WorkerList } from "../api/types.gen";
import { useKeys } from "../keys";
import { fresh, known } from "../live/feed";
import { watchMachines } from "../live/machines";
import { useWatched } from "../live/use";
import { Icon } from "../parts/icon";
import { fateOfRuns, isSilent, lives, silence } from "../parts/machine-words";
import { Note } from "../parts/note";
import { SilenceStrip } from "../parts/silence";
import { runAddress } from "../start/rows";
import { duration, fully, visible } from "../words";
import { Move } from "./move";
import { happened, progress, shown, summary, whyWaiting } from "./shown";
import { Table } from "./table";

const DOCS = "/docs/many-machines.html";
const watch = () => watchMachines(true);

export function MachinesPage() {
  const { state, loaded, trouble, again } = useWatched("machines", watch);
  const found = state.value;
  return (
    <div class="page machines" aria-busy={!loaded.value && trouble.value === null}>
      {trouble.value !== null && (
        <Note kind="err" title="Could not load the machines.">
          <p>{visible(trouble.value)}</p>
        </Note>
      )}
      {found === null ? (
        <>
          <h1>Machines</h1>
          {trouble.value === null && (
            <p class="load">
              <Icon name="clock" /> Loading the machines…
            </p>
          )}
        </>
      ) : (
        <Machines
          list={found.list}
          passed={Math.max(0, known.value - found.at)}
          isStale={fresh.value.kind === "stale" || fresh.value.kind === "unreachable"}
          again={again}
        />
      )}
    </div>
  );
}

type Props = { list: WorkerList; passed: number };

function Machines({
  list,
  passed,
  isStale,
  again,
}: Props & { isStale: boolean; again: () => void }) {
  const [chosen, choose] = useState<string | null>(null);
  // Where nothing is heard, nothing counts on.
  const now = known.value;
  const rows = shown(list, now);
  const silent = rows.filter(isSilent);
  const withRuns = rows.filter(({ runs }) => runs.length > 0);
  const selected =
    withRuns.find(({ id }) => id === chosen) ?? withRuns.find(isSilent) ?? withRuns[0] ?? null;
  const news = list.is_shared ? happened(list, now - passed) : [];
  const [trouble, tell] = useState<string | null>(null);
  const say = async (answer: Promise<Answer>) => {
    const said = await answer;
    tell(said.kind === "ok" ? null : whyNot(said));
    again();
    return said.kind === "ok";
  };
  const drain = (one: WorkerFacts) => {
    const path = `/api/v1/workers/${encodeURIComponent(one.id)}/drain`;
    return say(one.state === "draining" ? remove(path) : post(path));
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  return (
    <>
      <div class="row wrap heading">
        <h1>Machines</h1>
        <span class="muted">{summary(list)}</span>
        <span class="grow" />
        {list.database != null && (
          <span class="small faint desk">
            {visible(list.database)}, answers in {list.answered_ms ?? 0} ms
          </span>
        )}
      </div>
      {silent.map((one) => (
        <SilenceStrip
          key={one.id}
          name={one.name}
          head={silence(one, passed)}
          rest={`${fateOfRuns(list, one, passed)}.`}
        />
      ))}
      <div role="status">
        {trouble !== null && (
          <Note kind="err" title="That did not work.">
            {visible(trouble)}
          </Note>
        )}
      </div>
      <section class="panel">
        <Table
          rows={rows}
          passed={passed}
          isStale={isStale}
          canDrain={list.is_shared}
          selected={selected?.id ?? null}
          onSelect={choose}
          onDrain={(one) => void drain(one)}
        />
      </section>
      {(selected !== null || news.length > 0) && (
        <div class="two-up">
          {selected !== null && <Runs list={list} one={selected} passed={passed} />}
          {news.length > 0 && (
            <section class="panel">
              <header>
                <h2>What happened</h2>
                <span class="small muted">in the last 24 hours</span>
              </header>
              <ul class="lines">
                {news.map(({ at, who, what }) => (
                  <li key={`${at} ${who} ${what}`}>
                    <time class="num" title={fully(at)}>
                      {fully(at).slice(-8)}
                    </time>
                    <span>
                      <b class="b">{who}</b> {what}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      )}
      {list.waiting.length > 0 && (
        <Waiting list={list} onMove={(run, to) => say(post(`/api/v1/runs/${run}/move`, { to }))} />
      )}
      {list.items.filter(lives).length === 1 && <Alone isShared={list.is_shared} />}
    </>
  );
}

type Of = Props & { one: WorkerFacts };

function Runs({ list, one, passed }: Of) {
  const silent = isSilent(one);
  return (
    <section class="panel">
      <header>
        <h2 aria-live="polite">Runs of {visible(one.name)}</h2>
        <span class="small muted">{silent ? fateOfRuns(list, one, passed) : one.runs.length}</span>
      </header>
      <ul class="lines">
        {one.runs.map((run) => (
          <li key={run.id}>
            <span class="num">{duration(known.value - run.started_at)}</span>
            <span>
              <RunLink run={run} />
              <span class="small muted">{progress(run, silent)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type WaitingProps = { list: WorkerList; onMove: (run: string, to: string) => Promise<boolean> };

function Waiting({ list, onMove }: WaitingProps) {
  const runs = list.waiting;
  return (
    <section class="panel mt">
      <header>
        <h2>Waiting for a machine</h2>
        <span class="small muted">{runs.length}</span>
      </header>
      <ul class="lines">
        {runs.map((run) => (
          <li key={run.id}>
            <span class="num">{duration(known.value - run.started_at)}</span>
            <span>
              <RunLink run={run} />
              <span class="small muted">{whyWaiting(run)}</span>
            </span>
            {run.kind === "run" && !run.can_move && (
              <Move list={list} run={run} onMove={(to) => onMove(run.id, to)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A task that was started by itself is found in History. */
function RunLink({ run }: { run: WaitingRun }) {
  const href =
    run.kind === "run"
      ? runAddress(run.job, run.id)
      : `/history.html?${new URLSearchParams({ text: run.title })}`;
  return (
    <a class="quiet b" href={href}>
      {visible(run.title)}
    </a>
  );
}

function Alone({ isShared }: { isShared: boolean }) {
  return (
    <section class="panel empty mt">
      <Icon name="machine" size="big" />
      <h2>Airboss runs on one machine</h2>
      {isShared ? (
        <p>
          Start a worker on another machine with the same database. It continues your runs if this
          machine is lost.
        </p>
      ) : (
        <p>
          Airboss keeps everything in a folder on this machine. With a PostgreSQL database, several
          machines can share the work: runs continue when one of them is lost.
        </p>
      )}
      <p>
        <code class="mono">
          {isShared ? "airboss worker" : "airboss serve --database postgresql://…"}
        </code>
      </p>
      <a class="btn" href={`${DOCS}#set-it-up`}>
        How to add a machine
      </a>
    </section>
  );
}

/** Along the runs of machines: the one before, the one behind. */
function step(way: 1 | -1): void {
  const buttons = [...document.querySelectorAll<HTMLElement>(".tbl.fleet button")];
  const place = buttons.indexOf(document.activeElement as HTMLElement);
  buttons[Math.min(Math.max(place + way, 0), buttons.length - 1)]?.focus();
}
