/** A session that is there: the conversation above, what is asked next below. */

import { useComputed, useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { mayNot } from "../api/role";
import type { SessionView } from "../api/types.gen";
import { fresh } from "../live/feed";
import { useCommands } from "../parts/commands";
import { DragBar } from "../parts/dragbar";
import { float } from "../parts/floats";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { closePage } from "../parts/stop";
import { visible } from "../words";
import { AskAside } from "./aside";
import { abort, askAgain, askElsewhere, close, compact, pin, rename, type Trouble } from "./calls";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import type { FilePlace } from "./file";
import { Head } from "./head";
import type { SlashCommand } from "./menu";
import { Closed, Interrupted } from "./over";
import type { Parts } from "./page";
import { Panel, type PanelPart, Tabs } from "./panel";
import { briefOf } from "./usage";
import { AskAgain } from "./work/failure";

type Props = {
  parts: Parts;
  view: SessionView;
  title: string;
  at: number | null;
  /** The file that the address names. */
  opens: FilePlace | null;
};

export function Shown({ parts, view, title, at, opens }: Props) {
  const { session, changes, tasks, models, running, outbox } = parts;
  const { id } = view;
  const asks = useSignal(false);
  const part = useSignal<PanelPart>(opens === null ? "changes" : "file");
  const file = useSignal<FilePlace | null>(opens);
  const hidden = useSignal(false);
  /** Where there is no room for both, one of them is shown. */
  const place = useSignal<"talk" | "panel">(opens === null ? "talk" : "panel");
  const trouble = useSignal<Trouble>(null);
  const notice = useSignal<string | null>(null);
  const taskRun = useComputed(
    () => running.state.value?.items.find((run) => run.session === id)?.id ?? null,
  );
  const state = session.state.value;
  const isOpen = view.state !== "closed" && view.state !== "interrupted";
  const model = models.value?.items.find((each) => each.id === view.model) ?? null;
  const brief = briefOf(view, state.context, model);
  const changed = changes.changes.value.files.length;
  const show = (what: PanelPart) => {
    part.value = what;
    place.value = "panel";
    hidden.value = false;
  };
  const openFile = useCallback((place: FilePlace) => {
    file.value = place;
    show("file");
  }, []);
  const talk = () => {
    place.value = "talk";
  };
  const ask = () => {
    asks.value = true;
  };
  async function endSession(): Promise<void> {
    trouble.value = await close(id);
    if (trouble.value === null) closePage(); // else it says that it may be closed
  }
  async function name(title: string): Promise<void> {
    trouble.value = await rename(id, title);
  }
  async function turnPin(): Promise<void> {
    trouble.value = await pin(id, !view.pinned);
  }
  const canCompact =
    view.state === "idle" &&
    !view.compacting &&
    view.queue.length === 0 &&
    mayNot("operate") === null;
  async function compactHistory(instructions: string): Promise<void> {
    trouble.value = notice.value = null;
    const said = await compact(id, instructions);
    trouble.value = said.trouble;
    notice.value = said.notice;
  }
  const naming = useSignal(false);
  const canRetry = view.state === "idle" && view.task == null && mayNot("operate") === null;
  const again = {
    model: model?.name ?? view.model,
    retry: canRetry
      ? async (text: string) => {
          trouble.value = await askAgain(id, text);
        }
      : null,
    others: (models.value?.items ?? []).filter((each) => each.id !== view.model),
    retryOn: async (other: string, text: string) => {
      trouble.value = await askElsewhere(view, other, text);
    },
  };
  const commands: readonly SlashCommand[] = [
    { name: "help", about: "Show keyboard shortcuts", run: () => float("shortcuts") },
    {
      name: "rename",
      about: "Rename this session",
      takes: "name",
      run: (rest) => {
        if (rest === "") naming.value = true;
        else void name(rest);
      },
    },
    {
      name: "pin",
      about: view.pinned ? "Unpin from the top of Start" : "Pin to the top of Start",
      run: () => void turnPin(),
    },
    {
      name: "compact",
      about: "Summarize the conversation to free up context",
      run: (rest) => void compactHistory(rest),
    },
    { name: "aside", about: "Ask a side question while the agent works", run: ask },
    { name: "changes", about: "Show changed files", run: () => show("changes") },
    { name: "usage", about: "Show tokens, requests and cost", run: () => show("usage") },
    {
      name: "stop",
      about: "Stop the turn",
      run: async () => {
        trouble.value = await abort(id, taskRun.value);
      },
    },
    { name: "close", about: "Close the session", run: () => void endSession() },
  ];
  useCommands([
    { id: "changes", label: "Changed files", icon: "file", run: () => show("changes") },
    { id: "usage", label: "Session usage", icon: "info", run: () => show("usage") },
    {
      id: "rename",
      label: "Rename the session",
      icon: "pencil",
      run: () => {
        naming.value = true;
      },
    },
    {
      id: "pin",
      label: view.pinned ? "Unpin the session" : "Pin the session",
      icon: "pin",
      run: () => void turnPin(),
    },
    ...(canCompact
      ? ([
          {
            id: "compact",
            label: "Compact the history",
            icon: "minus",
            run: () => void compactHistory(""),
          },
        ] as const)
      : []),
    ...(isOpen
      ? ([
          { id: "aside", label: "Ask a side question", icon: "question", run: ask },
          { id: "close", label: "Close Session", icon: "cross", run: () => void endSession() },
        ] as const)
      : []),
  ]);

  return (
    <>
      <Head
        view={view}
        title={title}
        stale={fresh.value.kind === "stale"}
        changed={hidden.value ? changed : null}
        brief={brief}
        naming={naming}
        onName={(title) => void name(title)}
        onPin={() => void turnPin()}
        onAside={ask}
        onChanges={() => show("changes")}
      />
      <Tabs
        class="parts"
        label="Parts of this session"
        controls="work"
        tabs={[
          { name: "talk", word: "Conversation" },
          { name: "changes", word: "Changes", count: changed },
          { name: "session", word: "Session" },
          ...(file.value === null ? [] : [{ name: "file" as const, word: "File" }]),
        ]}
        chosen={place.value === "talk" ? "talk" : part.value === "usage" ? "session" : part.value}
        onChoose={(name) => (name === "talk" ? talk() : show(name))}
      />
      <div id="work" class={`work at-${place.value} ${hidden.value ? "alone" : ""}`}>
        <div class="lane">
          <div class="talk">
            <AskAgain.Provider value={again}>
              <Conversation
                session={state}
                at={at}
                asked={outbox.told.value}
                onFile={openFile}
                keys
              >
                {state.order.length === 0 && <Nothing />}
              </Conversation>
            </AskAgain.Provider>
            {session.earlier.value && (
              <p class="load earlier">
                <Icon name="clock" /> Loading earlier messages…
              </p>
            )}
          </div>
          {notice.value !== null && <Note kind="info" title={notice.value} />}
          {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
          {view.state === "closed" && <Closed />}
          {view.state === "interrupted" && <Interrupted view={view} />}
          {isOpen && (
            <Composer
              view={view}
              head={state.head}
              outbox={outbox}
              tasks={tasks.value?.items ?? []}
              models={models.value?.items ?? []}
              taskRun={taskRun.value}
              brief={brief}
              commands={commands}
              changed={changes.changes.value.files.map(({ path }) => path)}
              onCompact={canCompact ? () => void compactHistory("") : null}
              onClose={() => void endSession()}
            />
          )}
        </div>
        <DragBar
          name="session.panel"
          label="Width of the panel"
          way="v"
          property="--panel-w"
          usual={480}
          min={336}
          leave={480}
        />
        <Panel
          view={view}
          model={model?.name ?? view.model}
          changes={changes.changes.value}
          brief={brief}
          part={part.value}
          file={file.value}
          onPart={show}
          onHide={() => {
            hidden.value = true;
            talk();
          }}
        />
      </div>
      {asks.value && (
        <AskAside
          session={id}
          onClose={() => {
            asks.value = false;
          }}
        />
      )}
    </>
  );
}

const Nothing = () => (
  <div class="empty">
    <Icon name="terminal" size="big" />
    <h2>No messages yet</h2>
    <p>Tell the agent what to do. Its reasoning, tool calls and answers appear here.</p>
  </div>
);
