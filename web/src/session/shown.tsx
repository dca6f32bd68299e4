/** A session that is there: the conversation above, what is asked next below. */

import { useComputed, useSignal } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import { mayNot } from "../api/role";
import type { CommandOffers, SessionSetup, SessionView } from "../api/types.gen";
import { fresh } from "../live/feed";
import { useCommands } from "../parts/commands";
import { DragBar } from "../parts/dragbar";
import { float } from "../parts/floats";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { closePage } from "../parts/stop";
import { visible, visibleLines } from "../words";
import { AskAside } from "./aside";
import {
  abort,
  askAgain,
  askElsewhere,
  close,
  compact,
  type ForkWish,
  fork,
  invoke,
  pin,
  rename,
  type Trouble,
} from "./calls";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import type { FilePlace } from "./file";
import { Head } from "./head";
import type { Marked } from "./marked";
import type { SlashCommand } from "./menu";
import { once } from "./once";
import { Closed, Interrupted } from "./over";
import type { Parts } from "./page";
import { hasCageTab, Panel, type PanelPart, Tabs } from "./panel";
import { ForksBefore } from "./remember";
import { TakesSelection } from "./selection";
import { briefOf } from "./usage";
import { AskAgain } from "./work/failure";

/** The page does these itself. */
const OWN_COMMANDS = ["rename", "compact", "usage", "plan"];

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
  const canFork =
    ["idle", "interrupted"].includes(view.state) &&
    view.items.length === 0 &&
    mayNot("operate") === null;
  async function forkSession(wish: ForkWish = {}): Promise<void> {
    trouble.value = await fork(id, wish);
  }
  const forkBefore = useCallback((before: string) => void forkSession({ before }), [id]);
  const takeMarked = useCallback(
    (marked: Marked) => {
      outbox.marked.value = marked;
    },
    [outbox],
  );
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
  const offered = useMemo(() => once<CommandOffers>(`/api/v1/sessions/${id}/commands`), [id]);
  const setup = useMemo(() => once<SessionSetup>(`/api/v1/sessions/${id}/setup`), [id]);
  async function sendCommand(name: string, input: string): Promise<void> {
    trouble.value = notice.value = null;
    const said = await invoke(id, name, input);
    trouble.value = said.trouble;
    notice.value = said.text;
  }
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
    {
      name: "fork",
      about: "Start a new session as a copy of this one",
      run: () => void forkSession(),
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
    {
      name: "plan",
      about: "Make a plan first, which you approve",
      takes: "task",
      run: (rest) => void sendCommand("plan", rest),
    },
    ...(offered.value?.items ?? [])
      .filter(({ name }) => !OWN_COMMANDS.includes(name))
      .map(({ name, description }) => ({
        name,
        about: visible(description),
        run: (rest: string) => void sendCommand(name, rest),
      })),
  ];
  useCommands([
    { id: "changes", label: "Changed files", icon: "file", run: () => show("changes") },
    { id: "cage", label: "Cage of the session", icon: "lock", run: () => show("cage") },
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
    ...(canFork
      ? ([
          { id: "fork", label: "Fork the session", icon: "plus", run: () => void forkSession() },
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
        onFork={canFork ? () => void forkSession() : null}
        onChanges={() => show("changes")}
        onCage={() => show("cage")}
      />
      <Tabs
        class="parts"
        label="Parts of this session"
        controls="work"
        tabs={[
          { name: "talk", word: "Conversation" },
          { name: "changes", word: "Changes", count: changed },
          { name: "session", word: "Session" },
          ...(hasCageTab(view, part.value) ? [{ name: "cage" as const, word: "Cage" }] : []),
          ...(file.value === null ? [] : [{ name: "file" as const, word: "File" }]),
        ]}
        chosen={place.value === "talk" ? "talk" : part.value === "usage" ? "session" : part.value}
        onChoose={(name) => (name === "talk" ? talk() : show(name))}
      />
      <div id="work" class={`work at-${place.value} ${hidden.value ? "alone" : ""}`}>
        <div class="lane">
          <div class="talk">
            <AskAgain.Provider value={again}>
              <ForksBefore.Provider value={canFork ? forkBefore : null}>
                <Conversation
                  session={state}
                  at={at}
                  asked={outbox.told.value}
                  onFile={openFile}
                  keys
                >
                  {state.order.length === 0 && <Nothing />}
                </Conversation>
              </ForksBefore.Provider>
            </AskAgain.Provider>
            {session.earlier.value && (
              <p class="load earlier">
                <Icon name="clock" /> Loading earlier messages…
              </p>
            )}
          </div>
          {notice.value !== null && !notice.value.includes("\n") && (
            <Note kind="info" title={notice.value} />
          )}
          {notice.value?.includes("\n") && (
            <section class="told" aria-label="Answer of the command">
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
              <pre tabIndex={0}>{visibleLines(notice.value)}</pre>
              <button
                type="button"
                class="btn sm"
                onClick={() => {
                  notice.value = null;
                }}
              >
                Hide
              </button>
            </section>
          )}
          {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
          {view.state === "closed" && <Closed />}
          {view.state === "interrupted" && (
            <Interrupted view={view} isWriting={outbox.draft.value !== ""} />
          )}
          {isOpen && (
            <Composer
              view={view}
              head={state.head}
              outbox={outbox}
              tasks={tasks.value?.items ?? []}
              models={models.value?.items ?? []}
              agents={Object.keys(setup.value?.setup.agents ?? {})}
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
        <TakesSelection.Provider value={isOpen ? takeMarked : null}>
          <Panel
            view={view}
            model={model?.name ?? view.model}
            changes={changes.changes.value}
            brief={brief}
            terms={setup.value?.setup.cage?.terms ?? null}
            part={part.value}
            file={file.value}
            onPart={show}
            onHide={() => {
              hidden.value = true;
              talk();
            }}
          />
        </TakesSelection.Provider>
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
