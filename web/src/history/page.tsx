/** All runs, tasks and sessions there were: found by what one remembers, exported, retried, deleted. */

import { useState } from "preact/hooks";
import { type Answer, post, remove, whyNot } from "../api/client";
import { useKeys } from "../keys";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import { Bar } from "./bar";
import { Chosen } from "./chosen";
import { addressOf, type Filters, filtersIn, isFiltered, NO_FILTERS } from "./filters";
import { useHistory } from "./load";
import { folded, type Row, things } from "./rows";
import { Table } from "./table";

/** What is done to what lies at an address; and what could not be done, with the reasons. */
type Act = (path: string) => Promise<Answer>;
type Undone = { verb: string; why: readonly string[] };

export function HistoryPage() {
  const [filters, filter] = useState(() => filtersIn(location.search));
  const history = useHistory(filters);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [undone, tell] = useState<Undone>({ verb: "", why: [] });
  const rows = history.rows ?? [];
  const [unfolded, unfold] = useState<ReadonlySet<string>>(new Set());
  const picked = things(rows.filter(({ id }) => chosen.has(id)));

  const look = (next: Filters) => {
    // The address is the view: it can be kept, and sent to somebody.
    window.history.replaceState(null, "", addressOf(next));
    unfold(new Set());
    filter(next);
  };
  const drop = async () => {
    const yes = await confirmed({
      title:
        picked.length === 1 ? `Delete “${picked[0]?.name}”?` : `Delete ${picked.length} items?`,
      body: "This permanently deletes them with their tasks, sessions and conversations. Files in your folders are not changed. Items that are still running are skipped.",
      action: "Delete",
      keep: "Cancel",
    });
    if (!yes) return;
    await each("deleted", remove);
  };
  const each = async (verb: string, act: Act) => {
    tell({ verb, why: await refusals(picked, act) });
    choose(new Set());
    history.again();
  };
  useKeys({ j: () => step(1), k: () => step(-1) });

  return (
    <div class="page" aria-busy={history.rows === null && history.trouble === null}>
      <h1>History</h1>
      <Bar filters={filters} onFilter={look} />
      {history.trouble !== null && (
        <Note kind="err" title="Could not load the history.">
          <p>{visible(history.trouble)}</p>
          <button type="button" class="btn sm" onClick={history.again}>
            Try again
          </button>
        </Note>
      )}
      {history.lack !== null && (
        <Note kind="stale" title="Transcripts were not searched.">
          <p>{visible(history.lack)}</p>
        </Note>
      )}
      {undone.why.length > 0 && (
        <Note kind="err" title={`Some items could not be ${undone.verb}.`}>
          {undone.why.map((why) => (
            <p key={why}>{why}</p>
          ))}
        </Note>
      )}
      {history.rows === null && history.trouble === null && (
        <p class="load">
          <Icon name="clock" /> Loading the history…
        </p>
      )}
      {history.rows?.length === 0 && <Nothing filters={filters} onClear={() => look(NO_FILTERS)} />}
      {rows.length > 0 && (
        <div class="panel">
          <header>
            {picked.length > 0 && (
              <Chosen
                rows={picked}
                onRetry={() => void each("retried", (path) => post(`${path}/retry`))}
                onDelete={() => void drop()}
              />
            )}
            <span class="grow" />
            {history.since > 0 && (
              <button type="button" class="btn ghost sm" onClick={history.again}>
                Show {history.since} new
              </button>
            )}
            <span class="small faint" role="status">
              {rows.length} shown, newest first
            </span>
          </header>
          <Table
            rows={folded(rows, unfolded)}
            chosen={chosen}
            onUnfold={(id) => unfold(new Set([...unfolded, id]))}
            onChoose={(ids, on) => {
              const next = new Set(chosen);
              for (const id of ids) on ? next.add(id) : next.delete(id);
              choose(next);
            }}
          />
        </div>
      )}
      {history.more && (
        <div class="more">
          <span class="grow" />
          <button
            type="button"
            class="btn sm"
            disabled={history.loading}
            onClick={history.showMore}
          >
            {history.loading ? "Loading…" : "Show more"}
          </button>
        </div>
      )}
    </div>
  );
}

/** Along the names: the one before, the one behind. */
function step(way: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".hist .name a.b")];
  const place = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(Math.max(place + way, 0), links.length - 1)]?.focus();
}

/** One after the other; what the server refuses is told by its name. */
async function refusals(rows: readonly Row[], act: Act): Promise<string[]> {
  const undone: string[] = [];
  for (const { id, source, name } of rows) {
    const answer = await act(`/api/v1/${source}/${id}`);
    if (answer.kind !== "ok") undone.push(`${name}: ${visible(whyNot(answer))}`);
  }
  return undone;
}

function Nothing({ filters, onClear }: { filters: Filters; onClear: () => void }) {
  if (!isFiltered(filters)) {
    return (
      <div class="panel empty">
        <Icon name="clock" size="big" />
        <h2>Nothing has run yet</h2>
        <p>All your sessions and runs are kept here with their full transcripts.</p>
        <a class="btn" href="/index.html">
          Start a session
        </a>
      </div>
    );
  }
  return (
    <div class="panel empty">
      <Icon name="search" size="big" />
      <h2>No results</h2>
      <p>
        No run, task or session matches these filters. The search covers names, folders, IDs and
        transcripts.
      </p>
      <button type="button" class="btn sm" onClick={onClear}>
        Clear filters
      </button>
    </div>
  );
}
