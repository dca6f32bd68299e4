/** Behind the badge: what the cage lets through, what it refused, and what holds it. */

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { barred } from "../api/role";
import type { CageProfile, SessionView } from "../api/types.gen";
import { now } from "../live/feed";
import { CageBadge } from "../parts/cage-badge";
import { useCageHere } from "../parts/cage-here";
import {
  cageAbout,
  cageState,
  endedBy,
  foldersOf,
  hostsOf,
  hostsWords,
  isNarrow,
  limitsOf,
  refusalsOf,
  refusedWords,
  wallsOf,
} from "../parts/cage-words";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { fully, visible, when } from "../words";
import { fork } from "./calls";

type Props = {
  view: SessionView;
  /** What its profile says; null while nobody has told. */
  terms: CageProfile | null;
};

export function CageFacts({ view, terms }: Props) {
  const here = useCageHere(view);
  if (view.cage_profile == null) return <NotCaged view={view} />;
  const cage = view.cage ?? null;
  const hasNarrow = isNarrow(view, here);
  const limits = cage?.limits ?? terms;
  return (
    <div class="cage">
      <section>
        <p class="row">
          <CageBadge view={view} />
          <span class="small">{cageState(view)}</span>
        </p>
        <p class="small muted">{cageAbout(view, here)}</p>
        {cage?.limit != null && <Note kind="err" title={endedBy(cage.limit)} />}
      </section>
      {hasNarrow ? (
        <section>
          <h2>
            Hosts <small>none: a narrow cage has no network</small>
          </h2>
        </section>
      ) : (
        <>
          <Hosts view={view} terms={terms} />
          <Refused view={view} />
        </>
      )}
      {terms !== null && (
        <section>
          <h2>Folders</h2>
          <dl class="facts">
            {foldersOf(view.cwd, terms, hasNarrow, cage?.git ?? true).map(
              ({ name, isPath, may }) => (
                <Fragment key={`${name} ${may}`}>
                  <dt class={isPath ? "mono" : ""}>{name}</dt>
                  <dd>{may}</dd>
                </Fragment>
              ),
            )}
          </dl>
        </section>
      )}
      {limits !== null && (
        <section>
          <h2>
            Limits <small>for everything inside</small>
          </h2>
          <dl class="facts">
            {limitsOf(limits, cage?.peak_memory_mb).map(([name, most]) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{most}</dd>
              </Fragment>
            ))}
          </dl>
        </section>
      )}
      {cage !== null && (
        <section>
          <h2>
            Walls{" "}
            <small>{cage.is_open ? `${cage.walls.length} hold` : "held until it ended"}</small>
          </h2>
          <ul>
            {wallsOf(cage).map(({ name, about }) => (
              <li key={name}>
                <Icon name="tick" size="s" />
                <strong>{name}</strong>
                <span class="muted">{about}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p class="small muted">
        No cage holds back what an allowed host is sent, files that people run later (read the
        changes first), or bugs in the kernel. <a href="/docs/cage.html">What the cage holds</a>
      </p>
    </div>
  );
}

function Hosts({ view, terms }: Props) {
  const rows = hostsOf(terms?.hosts ?? [], view.egress ?? [], view.items);
  return (
    <section>
      <h2>
        Hosts <small>{terms !== null && hostsWords(terms)}</small>
      </h2>
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Host</th>
              <th scope="col">Allowed by</th>
              <th scope="col" class="right">
                Connections
              </th>
              <th scope="col" class="right">
                In
              </th>
              <th scope="col" class="right">
                Out
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, by, waits, connections, received, sent }) => (
              <tr key={name}>
                <td class="mono">{name}</td>
                <td>
                  {waits && <Icon name="hand" size="s" />}
                  {by}
                </td>
                <td class="right num">{connections}</td>
                <td class="right num">{received}</td>
                <td class="right num">{sent}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="small muted">Requests to the model go through Airboss, and are not counted here.</p>
    </section>
  );
}

function Refused({ view }: Pick<Props, "view">) {
  const traffic = view.egress ?? [];
  return (
    <section>
      <h2>
        Refused <small>{refusedWords(traffic)}</small>
      </h2>
      <ul>
        {refusalsOf(traffic).map(({ name, why, times, at }) => (
          <li key={name}>
            <Icon name="slashed" size="s" />
            {at !== null && (
              <time class="small muted" title={fully(at)} dateTime={new Date(at).toISOString()}>
                {when(at, now.value)}
              </time>
            )}
            <span class="grow">
              <span class="mono">{name}</span>
              <span class="small muted why">{why}</span>
            </span>
            <span class="num">{times}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NotCaged({ view }: Pick<Props, "view">) {
  const [trouble, tell] = useState<string | null>(null);
  const [isBusy, work] = useState(false);
  const enter = async () => {
    work(true);
    tell(await fork(view.id, { permissions: "caged" }));
    work(false);
  };
  const canFork = ["idle", "interrupted"].includes(view.state) && view.items.length === 0;
  return (
    <div class="cage">
      <section>
        <p class="row">
          <CageBadge view={view} />
        </p>
        <p class="small muted">{cageAbout(view)}</p>
        <dl class="facts">
          <dt>Permissions</dt>
          <dd>{view.policy}</dd>
        </dl>
        <p class="small muted">
          A session cannot move into a cage. Its copy can work in one, without asking. In a
          terminal: <code>airboss fork {view.id} --permissions caged</code>
        </p>
        <p>
          <button
            type="button"
            class="btn sm"
            disabled={isBusy || !canFork}
            title={canFork ? undefined : "A session can be copied while its agent is idle"}
            {...barred("operate")}
            onClick={() => void enter()}
          >
            <Icon name="fork" size="s" />
            {isBusy ? "Forking…" : "Fork into a cage"}
          </button>
        </p>
        <p class="small trouble" role="status">
          {trouble !== null && visible(trouble)}
        </p>
      </section>
    </div>
  );
}
