/** The session page: the conversation above, what is asked next below. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ModelList, TaskList, TaskRunList } from "../api/types.gen";
import { fresh } from "../live/feed";
import { watchList } from "../live/list";
import { watchSession } from "../live/session";
import { confirmed, Dialog } from "../parts/dialog";
import { DragBar } from "../parts/dragbar";
import { Frame } from "../parts/frame";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";
import { AskAside } from "./aside";
import { close, stopServer, whatEnds } from "./calls";
import { watchChanges } from "./changes";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { Head } from "./head";
import { Outbox } from "./outbox";
import { Closed, Interrupted, Stopped } from "./over";
import { About } from "./rail";
import { briefOf } from "./usage";

type Props = { id: string; at: number | null };

export function SessionPage({ id, at }: Props) {
  const stopped = useSignal(false);
  const title = useSignal("Session");
  return (
    <Frame page="start" title={title.value} app>
      {stopped.value ? (
        <Stopped />
      ) : (
        <Session
          id={id}
          at={at}
          onTitle={(words) => {
            title.value = words;
          }}
          onStopped={() => {
            stopped.value = true;
          }}
        />
      )}
    </Frame>
  );
}

function useWatched(id: string) {
  const parts = useMemo(() => {
    const session = watchSession(id);
    return {
      session,
      changes: watchChanges(id, session.state),
      tasks: watchList<TaskList>("/api/v1/tasks"),
      models: watchList<ModelList>("/api/v1/models"),
      running: watchList<TaskRunList>("/api/v1/task-runs?state=running&limit=200"),
      outbox: new Outbox(id),
    };
  }, [id]);
  useEffect(
    () => () => {
      for (const part of [parts.session, parts.changes, parts.tasks, parts.models, parts.running]) {
        part.stop();
      }
    },
    [parts],
  );
  return parts;
}

type SessionProps = Props & { onTitle: (title: string) => void; onStopped: () => void };

function Session({ id, at, onTitle, onStopped }: SessionProps) {
  const { session, changes, tasks, models, running, outbox } = useWatched(id);
  const floats = useSignal<"aside" | "about" | null>(null);
  const trouble = useSignal<string | null>(null);
  const taskRun = useComputed(
    () => running.state.value?.items.find((run) => run.session === id)?.id ?? null,
  );
  const state = session.state.value;
  const { view } = state;
  const title = view === null ? "Session" : visible(view.title) || "New session";
  useEffect(() => onTitle(title), [title]);

  if (session.trouble.value !== null) return <Missing why={session.trouble.value} />;
  if (view === null) return <Loading />;

  const model = models.state.value?.items.find((each) => each.id === view.model) ?? null;
  const brief = briefOf(view, state.context, model);
  const about = (
    <About
      view={view}
      model={model?.name ?? view.model}
      changes={changes.changes.value}
      brief={brief}
    />
  );

  async function endSession(): Promise<void> {
    trouble.value = await close(id);
    if (trouble.value === null) window.close(); // a page that a person opened stays, and says so
  }
  async function endServer(): Promise<void> {
    const body = await whatEnds();
    const isMeant = await confirmed({
      title: "Stop the server?",
      body: <p>{body}</p>,
      action: "Stop Server",
      keep: "Keep it running",
    });
    if (!isMeant) return;
    trouble.value = await stopServer(id);
    if (trouble.value !== null) return;
    onStopped();
    window.close();
  }

  return (
    <>
      <Head
        view={view}
        title={title}
        stale={fresh.value.kind === "stale"}
        changed={changes.changes.value.files.length}
        brief={brief}
        onAside={() => {
          floats.value = "aside";
        }}
        onAbout={() => {
          floats.value = "about";
        }}
      />
      <div class="upper">
        <div class="talk">
          <Conversation session={state} at={at} keys>
            {state.order.length === 0 && <Nothing />}
          </Conversation>
          {session.earlier.value && (
            <p class="load earlier">
              <Icon name="clock" /> Reading what came before …
            </p>
          )}
        </div>
        <aside class="rail" aria-label="About this session">
          {about}
        </aside>
      </div>
      <DragBar
        name="session.lower"
        label="Height of the request part"
        way="h"
        property="--composer-h"
        usual={300}
        min={160}
        leave={120}
      />
      {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
      {view.state === "closed" ? (
        <Closed />
      ) : view.state === "interrupted" ? (
        <Interrupted view={view} onStopServer={() => void endServer()} />
      ) : (
        <Composer
          view={view}
          head={state.head}
          outbox={outbox}
          tasks={tasks.state.value?.items ?? []}
          taskRun={taskRun.value}
          brief={brief}
          onClose={() => void endSession()}
          onStopServer={() => void endServer()}
        />
      )}
      {floats.value === "aside" && (
        <AskAside
          session={id}
          onClose={() => {
            floats.value = null;
          }}
        />
      )}
      {floats.value === "about" && (
        <Dialog
          title="About this session"
          onClose={() => {
            floats.value = null;
          }}
        >
          <div class="rail-in">{about}</div>
          <button
            type="button"
            class="btn"
            data-first
            onClick={() => {
              floats.value = null;
            }}
          >
            Close
          </button>
        </Dialog>
      )}
    </>
  );
}

const Nothing = () => (
  <div class="empty">
    <Icon name="terminal" size="big" />
    <h2>Nothing was said yet</h2>
    <p>Write below what the agent is to do. What it thinks, calls and answers appears here.</p>
  </div>
);

const Loading = () => (
  <div class="page">
    <p class="load">
      <Icon name="clock" /> Reading the session …
    </p>
  </div>
);

const Missing = ({ why }: { why: string }) => (
  <div class="page stack">
    <Note kind="err" title="This session cannot be shown.">
      {visible(why)}
    </Note>
    <p>
      <a href="/history.html">History</a> lists all that are kept; <a href="/index.html">Start</a>{" "}
      begins a new one.
    </p>
  </div>
);
