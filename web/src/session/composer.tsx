/** The lower part: what is asked next, and what ends the turn, the session or the server. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { SessionView, TaskItem } from "../api/types.gen";
import { Barred } from "../parts/barred";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import { Became } from "./became";
import { abort, type Trouble } from "./calls";
import { actionFor } from "./keys";
import type { Outbox } from "./outbox";
import { Attach, Pictures, take } from "./pictures";
import { Queue } from "./queue";
import { type Brief, UsageLine } from "./usage";

type Props = {
  view: SessionView;
  head: number;
  outbox: Outbox;
  tasks: readonly TaskItem[];
  /** The task that works on this session right now. */
  taskRun: string | null;
  brief: Brief;
  onClose: () => void;
  onStopServer: () => void;
};

export function Composer(props: Props) {
  const { view, head, outbox, tasks, taskRun } = props;
  const chosen = useSignal("");
  const trouble = useSignal<Trouble>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const task = tasks.find(({ name }) => name === chosen.value) ?? null;
  const works = isAtWork(view, taskRun, Math.max(head, 0) < outbox.told.value);
  const may = mayNot("operate") === null;
  const canSend = may && !works && !outbox.isBusy;
  const canQueue = may && works && !outbox.isBusy && view.state !== "opening";
  const takesText = task === null || task.requireUserInput;

  function send(): void {
    if (!canSend) return;
    trouble.value = null;
    const text = takesText ? outbox.draft.peek() : "";
    if (takesText && text.trim() === "") area.current?.focus();
    else if (task !== null) void outbox.begin(task.name, text);
    else void outbox.send("queue", head);
  }
  function add(delivery: "queue" | "steer"): void {
    if (!canQueue) return;
    if (outbox.draft.peek().trim() === "") area.current?.focus();
    else void outbox.send(delivery, head);
  }
  const canStop = may && (view.state === "working" || taskRun !== null);
  async function stop(): Promise<void> {
    if (canStop) trouble.value = await abort(view.id, taskRun);
  }

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const action = document.querySelector("dialog[open]") ? null : actionFor(event);
      if (action === null) return;
      event.preventDefault();
      if (action === "send") send();
      else if (action === "stop") void stop();
      else add(action);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  });

  return (
    <section
      class="composer"
      aria-label="Request"
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
      }}
      onDrop={(event) => {
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        if (may) void take(outbox, files);
      }}
    >
      <div class="line">
        <label class="b nowrap" for="task">
          Choose a Task:
        </label>
        <select
          id="task"
          class="select"
          value={chosen}
          {...barred("operate")}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          <option value="">(none)</option>
          {tasks.map(({ name }) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
        {may && <Attach outbox={outbox} />}
        <span class="grow" />
        <span class="desk">
          <UsageLine brief={props.brief} />
        </span>
      </div>
      <Barred needs="operate" />
      <Queue
        session={view.id}
        queue={view.queue}
        canSteer={works && view.state === "working"}
        onTrouble={(why) => {
          trouble.value = why;
        }}
      />
      <Pictures outbox={outbox} />
      <textarea
        ref={area}
        class="area"
        aria-label="Your request"
        placeholder={hint(task, works, view)}
        disabled={!takesText || !may}
        readOnly={outbox.phase.value.kind === "sending"}
        value={takesText ? outbox.draft.value : ""}
        onInput={(event) => outbox.write(event.currentTarget.value)}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void take(outbox, files);
        }}
      />
      <Became outbox={outbox} trouble={trouble.value} />
      <div class="line low">
        <span class="row lo-left">
          <button type="button" class="btn" {...barred("own")} onClick={props.onStopServer}>
            Stop Server
          </button>
          <button type="button" class="btn" {...barred("operate")} onClick={props.onClose}>
            Close Session
          </button>
          <span class="awaits" role="status">
            {works && (
              <>
                <Icon name="play" size="s" />
                Awaits responses ...
              </>
            )}
          </span>
          <Above count={view.items.length} />
        </span>
        <span class="row lo-right">
          {works && (
            <>
              <button
                type="button"
                class="btn danger"
                title="Ends the turn (Ctrl+.)"
                disabled={!canStop}
                {...barred("operate")}
                onClick={() => void stop()}
              >
                <Icon name="stop" />
                Stop
              </button>
              <span class="split">
                <button
                  type="button"
                  class="btn"
                  title="It waits until the agent is done (Alt+Enter)"
                  disabled={!canQueue}
                  {...barred("operate")}
                  onClick={() => add("queue")}
                >
                  Queue
                </button>
                <button
                  type="button"
                  class="btn"
                  title="The agent reads it at its next step (Ctrl+Shift+Enter)"
                  disabled={!canQueue || view.state !== "working"}
                  {...barred("operate")}
                  onClick={() => add("steer")}
                >
                  <Icon name="steer" />
                  Steer now
                </button>
              </span>
            </>
          )}
          <button
            type="button"
            class="btn primary"
            disabled={!canSend}
            title={canSend ? "Ctrl+Enter" : "The agent works: queue it, steer, or wait."}
            {...barred("operate")}
            onClick={send}
          >
            Send
          </button>
        </span>
      </div>
    </section>
  );
}

/** From the moment a request is taken until the agent is idle again. */
export function isAtWork(view: SessionView, taskRun: string | null, isSaid: boolean): boolean {
  return view.state !== "idle" || view.queue.length > 0 || taskRun !== null || isSaid;
}

function hint(task: TaskItem | null, works: boolean, view: SessionView): string {
  if (task !== null && !task.requireUserInput) return "This task takes no input. Send starts it.";
  if (task !== null) return "What the task is to work on. Send starts it.";
  if (view.state === "opening") return "The agent is being started.";
  if (works) return "Type the next message. It waits in the queue until the agent is done.";
  return "Type a message. Ctrl+Enter sends it.";
}

function Above({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="small muted desk">
      {count === 1 ? "1 thing above waits for you" : `${count} things above wait for you`}
    </span>
  );
}
