/** The Start page: who is signed in, what agents may do here, which sessions there are. */

import type { ComponentChildren } from "preact";
import type { Session, Status } from "../api/types";
import { Frame } from "../parts/frame";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { Status as State } from "../parts/status";
import { clock, fully, visible, when } from "../words";
import { entryInWords, freshness, policyInWords, type Start } from "./state";

type Props = { start: Start; now: number; everySeconds: number; onTry: () => void };

export function StartPage({ start, now, everySeconds, onTry }: Props) {
  const fresh = freshness(start, now);
  const away = <Away start={start} now={now} everySeconds={everySeconds} onTry={onTry} />;
  return (
    <Frame page="start" title="Start">
      <div class="start">
        <h1>Start a session</h1>
        <p class="muted">Talk to an agent in a folder of yours, from a terminal.</p>
        {away}
        {start.status !== null && (
          <>
            <Begin status={start.status} />
            <Sessions start={start} now={now} stale={fresh.kind === "stale"} />
          </>
        )}
        {start.heardAt === null && start.trouble === null && (
          <p class="load">
            <Icon name="clock" /> Asking the server how things are …
          </p>
        )}
      </div>
    </Frame>
  );
}

function troubleInWords({ trouble, heardAt }: Start): string {
  if (trouble?.kind === "failed") return "The server answers with an error.";
  if (heardAt === null) return "The server does not answer.";
  return `The server does not answer since ${clock(heardAt)}.`;
}

/** What the page says while the server is away. It keeps what it knew, and says how old that is. */
function Away({ start, now, everySeconds, onTry }: Props) {
  const fresh = freshness(start, now);
  if (fresh.kind !== "stale" && fresh.kind !== "unreachable") return null;
  return (
    <div class="gap">
      <Note kind="stale" title={troubleInWords(start)}>
        {start.trouble?.kind === "failed" && <p>{visible(start.trouble.detail)}</p>}
        <p>
          {start.heardAt !== null && `What you see is from ${clock(start.heardAt)}. `}
          Trying again every {everySeconds} s. If the server was stopped, start it with{" "}
          <code>airboss serve</code>.
        </p>
        <button type="button" class="btn sm" onClick={onTry}>
          Try now
        </button>
      </Note>
    </div>
  );
}

function Begin({ status }: { status: Status }) {
  return (
    <section class="panel form stack" aria-label="How to begin">
      <Account status={status} />
      {status.entry !== null && status.entry.problem !== null && (
        <Note kind="err" title="The entry needs a look.">
          {visible(status.entry.problem)} <code>airboss entry</code> shows the one in use.
        </Note>
      )}
      <div>
        <p class="label">In a terminal, in the folder where the agent is to work</p>
        <Command>airboss chat</Command>
        <p class="hint">The session appears below while it works, and stays there.</p>
      </div>
      <dl class="facts">
        {status.policy !== null && (
          <Fact name="Permissions">
            <b>{status.policy}</b>. {policyInWords(status.policy)}
          </Fact>
        )}
        {status.entry !== null && <Fact name="Entry">{visible(entryInWords(status.entry))}</Fact>}
        {status.version !== null && <Fact name="Version">{status.version}</Fact>}
      </dl>
    </section>
  );
}

function Account({ status }: { status: Status }) {
  const { copilot } = status;
  if (copilot.signedIn) {
    const who = copilot.login === null ? "" : ` as ${visible(copilot.login)}`;
    return (
      <p class="row">
        <span class="st ok">
          <Icon name="tick" />
          Signed in
        </span>
        <span>
          GitHub Copilot{who}
          {copilot.how !== null && <span class="faint"> · {visible(copilot.how)}</span>}
        </span>
      </p>
    );
  }
  if (status.rehearsal) {
    return (
      <Note kind="info" title="This server rehearses.">
        The rehearsal model plays a script and costs nothing. The agent, its tools and your files
        are real.
      </Note>
    );
  }
  if (copilot.signedIn === null) {
    return (
      <Note kind="info" title="Nobody has asked yet who is signed in to GitHub Copilot.">
        <code>airboss doctor</code> asks, and says what to do.
      </Note>
    );
  }
  return (
    <Note kind="info" title="Nobody is signed in to GitHub Copilot.">
      {copilot.detail !== null && <>{visible(copilot.detail)} </>}
      <code>airboss doctor</code> says what is missing and what to do.
    </Note>
  );
}

function Sessions({ start, now, stale }: { start: Start; now: number; stale: boolean }) {
  const { sessions, more } = start.page;
  return (
    <section class="list" aria-labelledby="sessions">
      <header>
        <h2 id="sessions">Running and recent</h2>
        {sessions.length > 0 && (
          <span class="small faint">
            Follow one with <code>airboss watch ID</code>
          </span>
        )}
      </header>
      {sessions.length === 0 ? (
        <div class="panel empty">
          <Icon name="terminal" size="big" />
          <h3>Nothing has run yet</h3>
          <p>
            Sessions are listed here with their state. Begin one with <code>airboss chat</code>.
          </p>
        </div>
      ) : (
        <ul class="runs panel">
          {sessions.map((session) => (
            <Row key={session.id} session={session} now={now} stale={stale} />
          ))}
        </ul>
      )}
      {more && (
        <p class="hint">
          These are the latest {sessions.length}. <code>airboss sessions</code> lists all.
        </p>
      )}
    </section>
  );
}

type RowProps = { session: Session; now: number; stale: boolean };

function Row({ session, now, stale }: RowProps) {
  const about = [session.cwd, session.model].filter((text) => text !== null).map(visible);
  return (
    <li>
      <State state={session.state} stale={stale} />
      <div class="what">
        <span class="name">{session.title === null ? "Untitled" : visible(session.title)}</span>
        <small>{about.join(" · ")}</small>
        <small class="mono">{session.id}</small>
      </div>
      {session.updatedAt !== null && (
        <time
          class="num"
          dateTime={new Date(session.updatedAt).toISOString()}
          title={fully(session.updatedAt)}
        >
          {when(session.updatedAt, now)}
        </time>
      )}
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Command({ children }: { children: string }) {
  return (
    <pre class="command">
      <code>{children}</code>
    </pre>
  );
}
