/** The page of a session: what it watches, and what it says while there is nothing to show. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ModelList, TaskList, TaskRunList } from "../api/types.gen";
import { watchList } from "../live/asked";
import { watchSession } from "../live/session";
import { Frame } from "../parts/frame";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { Stopped, stopped } from "../parts/stop";
import { visible } from "../words";
import { watchChanges } from "./changes";
import type { FilePlace } from "./file";
import { once } from "./once";
import { Outbox } from "./outbox";
import { Shown } from "./shown";

type Props = {
  id: string;
  /** The seq to begin at; null for the end. */
  at: number | null;
  /** The file to begin with; null for the changes. */
  file: FilePlace | null;
};

export function SessionPage({ id, at, file }: Props) {
  const title = useSignal("Session");
  const isOver = useSignal(false);
  return (
    <Frame
      page="start"
      title={title.value}
      app
      freshness={isOver.value ? { kind: "complete" } : undefined}
    >
      {stopped.value ? (
        <Stopped />
      ) : (
        <Session
          id={id}
          at={at}
          file={file}
          onTitle={(words, over) => {
            title.value = words;
            isOver.value = over;
          }}
        />
      )}
    </Frame>
  );
}

export type Parts = ReturnType<typeof useParts>;

function useParts(id: string) {
  const parts = useMemo(() => {
    const session = watchSession(id);
    return {
      session,
      changes: watchChanges(id, session.state),
      tasks: once<TaskList>("/api/v1/tasks"),
      models: once<ModelList>("/api/v1/models"),
      running: watchList<TaskRunList>("/api/v1/task-runs?state=running&limit=200"),
      outbox: new Outbox(id),
    };
  }, [id]);
  useEffect(
    () => () => {
      for (const part of [parts.session, parts.changes, parts.running]) part.stop();
    },
    [parts],
  );
  return parts;
}

type SessionProps = Props & { onTitle: (title: string, isOver: boolean) => void };

function Session({ id, at, file, onTitle }: SessionProps) {
  const parts = useParts(id);
  const { view } = parts.session.state.value;
  const title = view === null ? "Session" : visible(view.title) || "New session";
  const why = parts.session.trouble.value;
  const isOver = view?.state === "closed" && why === null;
  useEffect(() => onTitle(title, isOver), [title, isOver]);

  if (why !== null) return <Missing why={why} />;
  if (view === null) return <Loading />;
  return <Shown parts={parts} view={view} title={title} at={at} opens={file} />;
}

const Loading = () => (
  <div class="page">
    <p class="load">
      <Icon name="clock" /> Loading the session…
    </p>
  </div>
);

const Missing = ({ why }: { why: string }) => (
  <div class="page stack">
    <h1 class="vh">Session</h1>
    <Note kind="err" title="Could not show this session.">
      {visible(why)}
    </Note>
    <p>
      Find other sessions in <a href="/history.html">History</a>, or{" "}
      <a href="/index.html">start a new one</a>.
    </p>
  </div>
);
