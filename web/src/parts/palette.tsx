/** The palette: what can be done here, where one can go, and what runs or ran. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get } from "../api/client";
import { mayNot } from "../api/role";
import type { JobList, RunList, SessionList } from "../api/types.gen";
import { runName } from "../start/rows";
import { stateOf, visible } from "../words";
import { type Command, found, pageCommands } from "./commands";
import { enterSends, letEnterSend } from "./enter";
import { float } from "./floats";
import { Icon } from "./icon";
import { openModal } from "./modal";
import { editAddress, goTo, PAGES } from "./pages";
import { stopOrSay } from "./stop";
import { choose, THEMES } from "./theme";

type Group = { name: string; items: readonly Command[] };

const EVERYWHERE: readonly Command[] = [
  ...PAGES.map(
    ({ name, word, key, icon }): Command => ({
      id: `go-${name}`,
      label: `Open ${word}`,
      icon,
      key: `G ${key}`,
      run: () => void goTo(name),
    }),
  ),
  {
    id: "go-edit",
    label: "Edit the entry",
    about: "The file with the jobs",
    icon: "pencil",
    run: () => location.assign(editAddress()),
  },
  {
    id: "go-docs",
    label: "Open the documentation",
    icon: "question",
    run: () => location.assign("/docs/"),
  },
  ...THEMES.map(
    (theme): Command => ({
      id: `theme-${theme}`,
      label: `Theme: ${theme}`,
      icon: "moon",
      run: () => choose(theme),
    }),
  ),
  {
    id: "enter",
    label: "Enter key: send or start a new line",
    about: "In sessions, on this device",
    icon: "pencil",
    run: () => letEnterSend(!enterSends.value),
  },
  {
    id: "shortcuts",
    label: "Keyboard shortcuts",
    icon: "question",
    key: "?",
    run: () => float("shortcuts"),
  },
];

/** For whoever may. */
const OWNERS: readonly Command[] = [
  {
    id: "stop-server",
    label: "Stop Server",
    about: "Asks for confirmation",
    icon: "stop",
    run: () => void stopOrSay(),
  },
];

const SHOWN = 8;
const OVER = new Set(["closed", "succeeded", "failed", "canceled"]);

export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [letters, write] = useState("");
  const [place, move] = useState(0);
  const [known, know] = useState<readonly Group[]>([]);
  const id = useId();

  // Before the next key: an effect would open it a frame later, and what is typed until then would be lost.
  useLayoutEffect(() => {
    const close = dialog.current === null ? () => {} : openModal(dialog.current);
    let gone = false;
    void asked().then((groups) => gone || know(groups));
    return () => {
      gone = true;
      close();
    };
  }, []);

  const groups = [
    { name: "On this page", items: pageCommands.value },
    ...known.slice(0, 1),
    { name: "Everywhere", items: mayNot("own") === null ? [...EVERYWHERE, ...OWNERS] : EVERYWHERE },
    ...known.slice(1),
  ]
    .map(({ name, items }) => ({ name, items: found(letters, items).slice(0, SHOWN) }))
    .filter(({ items }) => items.length > 0);
  const all = groups.flatMap(({ items }) => items);
  const current = all[Math.min(place, all.length - 1)];

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    // When this is gone and has given the focus back: the command may want it elsewhere.
    queueMicrotask(command.run);
  };

  function press(event: KeyboardEvent): void {
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && all.length > 0) {
      move((Math.min(place, all.length - 1) + step + all.length) % all.length);
    } else if (event.key === "Enter") run(current);
    else if (event.key === "k" && (event.ctrlKey || event.metaKey)) onClose();
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={dialog}
      class="dlg find"
      aria-label="Search or run a command"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={press}
    >
      <div class="q">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={current === undefined ? undefined : `${id}-${current.id}`}
          aria-label="Search or run a command"
          placeholder="Search or run a command"
          autocomplete="off"
          spellcheck={false}
          value={letters}
          onInput={(event) => {
            write(event.currentTarget.value);
            move(0);
          }}
        />
      </div>
      {/* the field keeps the focus, and says which one is meant */}
      <div id={`${id}-list`} role="listbox" aria-label="Results">
        {groups.map(({ name, items }) => (
          // a group of options is no fieldset
          <div key={name} role="group" aria-label={name}>
            <div class="grp" aria-hidden="true">
              {name}
            </div>
            {items.map((command) => (
              <Option
                key={command.id}
                id={`${id}-${command.id}`}
                command={command}
                on={command === current}
                onRun={() => run(command)}
              />
            ))}
          </div>
        ))}
      </div>
      {all.length === 0 && <p class="pad muted">No results.</p>}
      <p class="vh" role="status">
        {all.length} found
      </p>
    </dialog>
  );
}

type OptionProps = { id: string; command: Command; on: boolean; onRun: () => void };

function Option({ id, command: { label, about, icon, key }, on, onRun }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (on) element.current?.scrollIntoView({ block: "nearest" });
  }, [on]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
    <div
      ref={element}
      id={id}
      role="option"
      aria-selected={on}
      class={on ? "opt sel" : "opt"}
      onClick={onRun}
    >
      <Icon name={icon} />
      <span class="cut">{label}</span>
      {about !== undefined && <span class="small faint cut">{about}</span>}
      {key !== undefined && <kbd>{key}</kbd>}
    </div>
  );
}

/** What runs first, then jobs and what was: all that a name can be remembered of. */
async function asked(): Promise<Group[]> {
  const [runs, sessions, jobs] = await Promise.all([
    get<RunList>("/api/v1/runs?limit=50"),
    get<SessionList>("/api/v1/sessions?of=person&limit=50"),
    get<JobList>("/api/v1/jobs"),
  ]);
  const ran = runs.kind === "ok" ? runs.body.items : [];
  const talked = sessions.kind === "ok" ? sessions.body.items : [];
  const items = [
    ...ran.map((run) => ({
      goesOn: !OVER.has(run.state),
      at: run.updated_at,
      command: entry(run.id, runName(run), `Job · ${stateOf(run.state, false).word}`, "job", {
        path: "/jobTracking.html",
        query: { jobName: run.job, jobId: run.id },
      }),
    })),
    ...talked.map((session) => ({
      goesOn: !OVER.has(session.state),
      at: session.updated_at,
      command: entry(
        session.id,
        session.title,
        `Session · ${stateOf(session.items.length > 0 ? "asking" : session.state, false).word}`,
        "terminal",
        { path: "/index.html", query: { session: session.id } },
      ),
    })),
  ].sort((a, b) => b.at - a.at);
  const offered = jobs.kind === "ok" ? jobs.body.items : [];
  return [
    {
      name: "In progress",
      items: items.filter(({ goesOn }) => goesOn).map(({ command }) => command),
    },
    {
      name: "Jobs",
      items: offered.map(({ name }) =>
        entry(`job-${name}`, name, "Preview the job", "job", {
          path: "/jobTracking.html",
          query: { jobName: name },
        }),
      ),
    },
    { name: "Recent", items: items.filter(({ goesOn }) => !goesOn).map(({ command }) => command) },
  ];
}

type Way = { path: string; query: Record<string, string> };

function entry(id: string, name: string, about: string, icon: Command["icon"], way: Way): Command {
  return {
    id,
    label: visible(name) || "Untitled",
    about,
    icon,
    run: () => location.assign(`${way.path}?${new URLSearchParams(way.query)}`),
  };
}
