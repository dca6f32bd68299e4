/** A session that is there: the conversation above, what is asked next below. */

import { useComputed, useSignal } from "@preact/signals";
import type { SessionView } from "../api/types.gen";
import { fresh } from "../live/feed";
import { useCommands } from "../parts/commands";
import { Dialog } from "../parts/dialog";
import { DragBar } from "../parts/dragbar";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { closePage, stopServer } from "../parts/stop";
import { visible } from "../words";
import { AskAside } from "./aside";
import { close, type Trouble } from "./calls";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { Head } from "./head";
import { Closed, Interrupted } from "./over";
import type { Parts } from "./page";
import { About } from "./rail";
import { briefOf } from "./usage";

type Props = { parts: Parts; view: SessionView; title: string; at: number | null };

export function Shown({ parts, view, title, at }: Props) {
  const { session, changes, tasks, models, running, outbox } = parts;
  const { id } = view;
  const floats = useSignal<"aside" | "about" | null>(null);
  const trouble = useSignal<Trouble>(null);
  const taskRun = useComputed(
    () => running.state.value?.items.find((run) => run.session === id)?.id ?? null,
  );
  const state = session.state.value;
  const isOpen = view.state !== "closed" && view.state !== "interrupted";
  const model = models.value?.items.find((each) => each.id === view.model) ?? null;
  const brief = briefOf(view, state.context, model);
  const about = (
    <About
      view={view}
      model={model?.name ?? view.model}
      changes={changes.changes.value}
      brief={brief}
    />
  );

  const show = (what: "aside" | "about" | null) => {
    floats.value = what;
  };
  async function endSession(): Promise<void> {
    trouble.value = await close(id);
    if (trouble.value === null) closePage(); // else it says that it may be closed
  }
  async function endServer(): Promise<void> {
    const came = await stopServer({
      means: "This session ends for good; its conversation is kept in History.",
      sessions: isOpen ? 1 : 0,
      doing: () => close(id), // the server's end alone would only interrupt it
    });
    trouble.value = typeof came === "string" ? came : null;
  }
  useCommands([
    { id: "about", label: "Changed files and usage", icon: "file", run: () => show("about") },
    ...(isOpen
      ? ([
          { id: "aside", label: "Ask on the side", icon: "question", run: () => show("aside") },
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
        changed={changes.changes.value.files.length}
        brief={brief}
        onAside={() => show("aside")}
        onAbout={() => show("about")}
      />
      <div class="upper">
        <div class="talk">
          <Conversation session={state} at={at} asked={outbox.told.value} keys>
            {state.order.length === 0 && <Nothing />}
          </Conversation>
          {session.earlier.value && (
            <p class="load earlier">
              <Icon name="clock" /> Reading what came before …
            </p>
          )}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too */}
        <aside class="rail" aria-label="About this session" tabIndex={0}>
          {about}
        </aside>
      </div>
      {trouble.value !== null && <Note kind="err" title={visible(trouble.value)} />}
      {isOpen && (
        <DragBar
          name="session.lower"
          label="Height of the request part"
          way="h"
          property="--composer-h"
          usual={300}
          min={160}
          leave={120}
        />
      )}
      {view.state === "closed" && <Closed />}
      {view.state === "interrupted" && (
        <Interrupted view={view} onStopServer={() => void endServer()} />
      )}
      {isOpen && (
        <Composer
          view={view}
          head={state.head}
          outbox={outbox}
          tasks={tasks.value?.items ?? []}
          taskRun={taskRun.value}
          brief={brief}
          onClose={() => void endSession()}
          onStopServer={() => void endServer()}
        />
      )}
      {floats.value === "aside" && <AskAside session={id} onClose={() => show(null)} />}
      {floats.value === "about" && (
        <Dialog title="About this session" onClose={() => show(null)}>
          <div class="rail-in">{about}</div>
          <button type="button" class="btn" data-first onClick={() => show(null)}>
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
