/** The request part: how it stands, what waits, and the box for what is asked next. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { barred, mayNot } from "../api/role";
import type { OfferedModel, SessionView, TaskItem } from "../api/types.gen";
import { fresh } from "../live/feed";
import { Barred } from "../parts/barred";
import { enterSends } from "../parts/enter";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import { Attach, Attachments, take } from "./attachments";
import { Became } from "./became";
import { abort, type Trouble } from "./calls";
import { type Action, actionFor } from "./keys";
import { commandIn } from "./mentions";
import type { SlashCommand } from "./menu";
import type { Outbox } from "./outbox";
import { Pickers } from "./pickers";
import { Queue } from "./queue";
import { type Brief, UsageLine } from "./usage";
import { Begin, Writing } from "./writing";

type Props = {
  view: SessionView;
  head: number;
  outbox: Outbox;
  tasks: readonly TaskItem[];
  models: readonly OfferedModel[];
  agents: readonly string[];
  /** The task that works on this session right now. */
  taskRun: string | null;
  brief: Brief;
  commands: readonly SlashCommand[];
  /** The files that were changed: the likeliest to be meant. */
  changed: readonly string[];
  /** Null while it cannot be done. */
  onCompact: (() => void) | null;
  onClose: () => void;
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
  const canStop = may && (view.state === "working" || view.compacting || taskRun !== null);

  const commands: readonly SlashCommand[] = [
    ...props.commands,
    ...tasks.map(({ name, requireUserInput }) => ({
      name,
      about: requireUserInput ? "Task: select it, then enter its input" : "Task: select it",
      run: () => {
        chosen.value = name;
      },
    })),
  ];

  /** A command that is the whole request is done here, and no model hears of it. */
  function isCommand(): boolean {
    const said = commandIn(outbox.draft.peek());
    if (said === null) return false;
    const command = commands.find(({ name }) => name === said.name);
    if (command !== undefined) {
      outbox.write("");
      command.run(said.rest);
    } else if (said.rest === "") {
      trouble.value = `There is no command /${said.name}. Type / to see all commands. To send this as text, put a space before the slash.`;
    } else return false;
    return true;
  }
  function send(): void {
    trouble.value = null;
    if (isCommand()) return;
    if (works) add("queue");
    if (!canSend) return;
    const text = takesText ? outbox.draft.peek() : "";
    const isEmpty = text.trim() === "" && outbox.files.peek().length === 0;
    if (takesText && isEmpty) area.current?.focus();
    else if (task !== null) void outbox.begin(task.name, text);
    else void outbox.send("queue", head);
  }
  function add(delivery: "queue" | "steer"): void {
    if (!canQueue) return;
    if (outbox.draft.peek().trim() === "") area.current?.focus();
    else void outbox.send(delivery, head);
  }
  async function stop(): Promise<void> {
    if (canStop) trouble.value = await abort(view.id, taskRun);
  }
  const does: Record<Action, () => void> = {
    send,
    queue: () => add("queue"),
    steer: () => add("steer"),
    stop: () => void stop(),
  };

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      const action = actionFor(event, event.target === area.current, enterSends.value);
      if (action === null) return;
      event.preventDefault();
      does[action]();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  });

  return (
    <section
      class="composer"
      aria-label="Message"
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
      <div class="cmp-in">
        <div class="state">
          <label class="nowrap" for="task">
            Choose a Task:
          </label>
          <select
            id="task"
            class="picker"
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
          <span class="awaits" role="status">
            {works && fresh.value.kind !== "stale" && (
              <>
                <Icon name="play" size="s" />
                {view.compacting
                  ? "Compacting the history ..."
                  : view.mode === "plan"
                    ? "Makes a plan ..."
                    : "Awaits responses ..."}
              </>
            )}
          </span>
          <Above count={view.items.length} />
          <span class="grow" />
          <span class="desk">
            <UsageLine brief={props.brief} onCompact={props.onCompact} />
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
        <Attachments outbox={outbox} />
        <Became outbox={outbox} trouble={trouble.value} />
        <div class="box">
          <Writing
            area={area}
            view={view}
            outbox={outbox}
            commands={commands}
            changed={props.changed}
            hint={hint(task, works, view)}
            off={!may}
            takesText={takesText}
          />
          <div class="foot">
            {may && (
              <>
                <Attach outbox={outbox} />
                <Begin mark="/" label="Commands" area={area} outbox={outbox} />
                <span class="desk">
                  <Begin mark="@" label="Mention a file" area={area} outbox={outbox} />
                </span>
              </>
            )}
            <Pickers
              view={view}
              models={props.models}
              agents={props.agents}
              outbox={outbox}
              onTrouble={(why) => {
                trouble.value = why;
              }}
            />
            <button
              type="button"
              class="btn ghost sm"
              {...barred("operate")}
              onClick={props.onClose}
            >
              <span class="phone-only">
                <Icon name="cross" />
              </span>
              <span class="word">Close Session</span>
            </button>
            <span class="grow" />
            {works && (
              <button
                type="button"
                class="btn danger sm"
                title="Stop the turn (Ctrl+.)"
                disabled={!canStop}
                {...barred("operate")}
                onClick={() => void stop()}
              >
                <Icon name="stop" />
                <span class="word">Stop</span>
              </button>
            )}
            {works && view.state !== "opening" ? (
              <span class="split">
                <button
                  type="button"
                  class="btn sm primary"
                  title={`Send when the agent is done (${enterSends.value ? "Enter" : "Ctrl+Enter"})`}
                  disabled={!canQueue}
                  {...barred("operate")}
                  onClick={send}
                >
                  Queue
                </button>
                <button
                  type="button"
                  class="btn sm"
                  title="Add to the running turn, before the next step (Ctrl+Shift+Enter)"
                  disabled={!canQueue || view.state !== "working"}
                  {...barred("operate")}
                  onClick={() => add("steer")}
                >
                  <Icon name="steer" />
                  <span class="word">Steer now</span>
                </button>
              </span>
            ) : (
              <button
                type="button"
                class="btn sm primary"
                disabled={!canSend}
                title={
                  canSend ? (enterSends.value ? "Enter" : "Ctrl+Enter") : "The agent is starting."
                }
                {...barred("operate")}
                onClick={send}
              >
                Send
              </button>
            )}
          </div>
        </div>
      </div>
    </section>
  );
}

/** From the moment a request is taken until the agent is idle again. */
export function isAtWork(view: SessionView, taskRun: string | null, isSaid: boolean): boolean {
  const rests = view.state === "idle" && !view.compacting;
  return !rests || view.queue.length > 0 || taskRun !== null || isSaid;
}

function hint(task: TaskItem | null, works: boolean, view: SessionView): string {
  if (task !== null && !task.requireUserInput)
    return "This task takes no input. Press Send to start it.";
  if (task !== null) return "Enter the task’s input, then press Send to start it.";
  if (view.state === "opening") return "The agent is starting.";
  if (works) return "Queue a message for when the agent is done";
  return "Send a message (/ for commands, @ for files)";
}

function Above({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="small muted desk">
      {count === 1
        ? "1 request above is waiting for you"
        : `${count} requests above are waiting for you`}
    </span>
  );
}
