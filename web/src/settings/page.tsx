/** Settings: what is wrong and what to do, who answers, what agents may do, and how it looks. */

import { useEffect, useState } from "preact/hooks";
import type { Status } from "../api/types.gen";
import { now } from "../live/feed";
import { useList } from "../live/use";
import { CopyButton } from "../parts/copy";
import { enterSends, letEnterSend } from "../parts/enter";
import { Stopped, StopServer, stopped } from "../parts/stop";
import { choose, THEMES, theme } from "../parts/theme";
import { fully, span, visible } from "../words";
import { Accounts } from "./accounts";
import { Audit } from "./audit";
import { Doctor } from "./doctor";
import { Extensions } from "./extensions";
import { Models } from "./models";
import { Providers } from "./providers";
import { Rules } from "./rules";
import { ServerSettings } from "./server";
import { SignIns } from "./sign-ins";
import { Trust } from "./trust";

/** Where the address names what is in a part: a form that a link opens. */
const WITHIN: Readonly<Record<string, string>> = {
  "sign-in": "accounts",
  providers: "accounts",
  "add-provider": "accounts",
};

const PARTS = [
  ["doctor", "Doctor"],
  ["accounts", "Accounts and providers"],
  ["models", "Models"],
  ["server", "Server settings"],
  ["rules", "Rules"],
  ["trust", "Trusted files and folders"],
  ["tokens", "Access"],
  ["audit", "Audit"],
  ["extensions", "Extensions"],
  ["appearance", "Appearance"],
  ["about", "About"],
] as const;

export function SettingsPage() {
  const status = useList<Status>("/api/v1/status").state.value;
  const [needs, need] = useState(0);
  const here = usePart();
  if (stopped.value) return <Stopped />;
  return (
    <div class="page">
      <h1>Settings</h1>
      <div class="two">
        <nav class="sidenav" aria-label="Settings">
          {PARTS.map(([id, word]) => (
            <a
              key={id}
              href={`#${id}`}
              aria-current={id === (WITHIN[here] ?? here) ? "true" : undefined}
            >
              {word}
              {id === "doctor" && needs > 0 && (
                <span class="count">
                  {needs}
                  <span class="vh"> need attention</span>
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="stack-5">
          <Doctor onNeed={need} />
          <Accounts />
          <Providers />
          <Models status={status} />
          <ServerSettings />
          <Rules />
          <Trust />
          <Access status={status} />
          <Audit />
          <Extensions />
          <Appearance />
          <About status={status} />
        </div>
      </div>
    </div>
  );
}

/** The part that the address names: a link to it can be sent to somebody. */
function usePart(): string {
  const read = () => location.hash.slice(1) || "doctor";
  const [part, go] = useState(read);
  useEffect(() => {
    const hear = () => go(read());
    addEventListener("hashchange", hear);
    // It was not there when the page was loaded.
    const letGo = location.hash === "" ? () => {} : keepInView(read());
    return () => {
      removeEventListener("hashchange", hear);
      letGo();
    };
  }, []);
  return part;
}

const BY_HAND = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** The parts above fill themselves later and push it away, until somebody moves the page. */
function keepInView(id: string): () => void {
  const place = document.getElementById(id);
  if (place?.parentElement == null) return () => {};
  const grown = new ResizeObserver(() => place.scrollIntoView());
  const stop = () => {
    grown.disconnect();
    for (const kind of BY_HAND) removeEventListener(kind, stop);
  };
  for (const kind of BY_HAND) addEventListener(kind, stop, { passive: true });
  grown.observe(place.parentElement);
  return stop;
}

function Access({ status }: { status: Status | null }) {
  return (
    <section class="panel" id="tokens" aria-labelledby="tokens-title">
      <header>
        <h2 id="tokens-title">Access</h2>
        {status !== null && (
          <span class="small muted">
            Signed in as {visible(status.who)} with the role {status.role}
          </span>
        )}
      </header>
      <div class="pad stack-5">
        <p class="muted">
          Each person and each program has its own token. The token’s name is recorded with
          everything they do, and its role says what they may do: view, operate, decide or own.
          Manage tokens in a terminal on this machine:
        </p>
        {["airboss token add NAME --role operate", "airboss token list", "airboss link"].map(
          (command) => (
            <div key={command} class="row">
              <code class="cmd">{command}</code>
              <CopyButton text={command} what={command} />
            </div>
          ),
        )}
      </div>
      <SignIns />
    </section>
  );
}

function Appearance() {
  return (
    <section class="panel" id="appearance" aria-labelledby="appearance-title">
      <header>
        <h2 id="appearance-title">Appearance</h2>
        <span class="small muted">On this device</span>
      </header>
      <div class="pad row wrap">
        <span id="theme-label">Theme</span>
        {/* a row of buttons is no fieldset */}
        <span class="seg" role="group" aria-labelledby="theme-label">
          {THEMES.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={theme.value === one}
              onClick={() => choose(one)}
            >
              {one.charAt(0).toUpperCase() + one.slice(1)}
            </button>
          ))}
        </span>
        <span class="small faint">Panel sizes are saved when you drag them.</span>
      </div>
      <div class="pad row wrap">
        <span id="enter-label">Enter key in a session</span>
        <span class="seg" role="group" aria-labelledby="enter-label">
          {[true, false].map((sends) => (
            <button
              key={String(sends)}
              type="button"
              aria-pressed={enterSends.value === sends}
              onClick={() => letEnterSend(sends)}
            >
              {sends ? "Sends" : "Starts a new line"}
            </button>
          ))}
        </span>
        <span class="small faint">
          {enterSends.value ? "Shift+Enter starts a new line." : "Ctrl+Enter sends."}
        </span>
      </div>
    </section>
  );
}

function About({ status }: { status: Status | null }) {
  return (
    <section class="panel" id="about" aria-labelledby="about-title" aria-busy={status === null}>
      <header>
        <h2 id="about-title">About</h2>
      </header>
      {status !== null && (
        <dl class="facts left pad">
          <dt>Version</dt>
          <dd>{visible(status.version)}</dd>
          <dt>Agent runtime</dt>
          <dd>
            {visible(status.runtime.version)}, {status.runtime.state}
            {(status.runtime.url || status.runtime.shared) && (
              <p>{visible(status.runtime.detail)}</p>
            )}
          </dd>
          <dt>Permissions</dt>
          <dd>{visible(status.policy)}</dd>
          <dt>Data folder</dt>
          <dd class="mono">{visible(status.data_folder)}</dd>
          <dt>Folders for agents</dt>
          <dd class="mono">{status.roots.map(visible).join(", ")}</dd>
          <dt>Running since</dt>
          <dd>
            {fully(status.started_at)}, {span(now.value - status.started_at)}
          </dd>
        </dl>
      )}
      <div class="pad">
        <StopServer />
      </div>
    </section>
  );
}
