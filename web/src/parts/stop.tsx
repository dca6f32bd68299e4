/** Ends the server, after saying what ends with it and what is kept. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { get, post, whyNot } from "../api/client";
import { barred, mayNot } from "../api/role";
import type { RunList, Status } from "../api/types.gen";
import { visible } from "../words";
import { confirmed } from "./dialog";
import { Icon } from "./icon";
import { Note } from "./note";

/** Whether this page has stopped its server: nothing on it is to be tried again. */
export const stopped = signal(false);

const OPEN_RUNS = "/api/v1/runs?state=waiting&state=running&state=waiting-for-person&limit=200";

/** What ends, and what goes on by itself at the next start. Pure. */
export function whatEnds(sessions: number, runs: number): string {
  const first =
    sessions === 0
      ? "No session is open."
      : sessions === 1
        ? "1 open session will be interrupted. You can resume it after a restart, with its full conversation."
        : `${sessions} open sessions will be interrupted. You can resume them after a restart, with their full conversations.`;
  if (runs === 0) return `${first} No job is running.`;
  const jobs =
    runs === 1
      ? "1 job will pause and resume automatically after a restart"
      : `${runs} jobs will pause and resume automatically after a restart`;
  return `${first} ${jobs}. Finished tasks are kept.`;
}

/** True where the server ends; else why it does not, or null where the person thought better of it. */
export async function stopServer(): Promise<true | string | null> {
  const barredBy = mayNot("own");
  if (barredBy !== null) return barredBy;
  const [status, runs] = await Promise.all([
    get<Status>("/api/v1/status"),
    get<RunList>(OPEN_RUNS),
  ]);
  const open = status.kind === "ok" ? status.body.sessions.open : 0;
  const going = runs.kind === "ok" ? runs.body.items.length : 0;
  const yes = await confirmed({
    title: "Stop the server?",
    body: whatEnds(open, going),
    action: "Stop Server",
    keep: "Keep running",
  });
  if (!yes) return null;
  const answer = await post("/api/v1/stop");
  if (answer.kind !== "ok") return whyNot(answer);
  stopped.value = true;
  closePage();
  return true;
}

/** From where there is no room to say what went wrong. */
export async function stopOrSay(): Promise<void> {
  const came = await stopServer();
  if (typeof came !== "string") return;
  const again = await confirmed({
    title: "The server was not stopped.",
    body: visible(came),
    action: "Try again",
    keep: "Close",
    danger: false,
  });
  if (again) await stopOrSay();
}

/** Where the browser lets a page close itself: one that a page opened, or that has been nowhere else. */
export function closePage(): void {
  if (window.opener !== null || history.length === 1) window.close();
}

export function StopServer({ class: look = "btn" }: { class?: string }) {
  const [trouble, setTrouble] = useState<string | null>(null);
  return (
    <>
      <button
        type="button"
        class={look}
        {...barred("own")}
        onClick={async () => {
          const came = await stopServer();
          setTrouble(typeof came === "string" ? came : null);
        }}
      >
        Stop Server
      </button>
      {trouble !== null && (
        <Note kind="err" title="The server was not stopped.">
          {visible(trouble)}
        </Note>
      )}
    </>
  );
}

/** In place of the page, once the server has ended. */
export function Stopped() {
  return (
    <div class="page">
      <div class="panel empty">
        <Icon name="tick" size="big" />
        <h1>The server has stopped</h1>
        <p>You can close this page. Everything is saved.</p>
        <p>
          To start it again, run <code>airboss serve</code>.
        </p>
      </div>
    </div>
  );
}
