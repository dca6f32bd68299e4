/** The bar below the top bar: what this session is, how it stands, and what can be had of it. */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { barred } from "../api/role";
import type { SessionView } from "../api/types.gen";
import { CageBadge } from "../parts/cage-badge";
import { Icon } from "../parts/icon";
import { useSaving } from "../parts/save";
import { Status } from "../parts/status";
import { visible } from "../words";
import { type Brief, shortly } from "./usage";

type Props = {
  view: SessionView;
  title: string;
  stale: boolean;
  /** How many files were changed, where the panel that says so is hidden. */
  changed: number | null;
  brief: Brief;
  /** Whether somebody is giving it another name. */
  naming: Signal<boolean>;
  onName: (title: string) => void;
  onPin: () => void;
  onAside: () => void;
  /** Null where it cannot be copied now. */
  onFork: (() => void) | null;
  onChanges: () => void;
  onCage: () => void;
};

export function Head(props: Props) {
  const { view, title, stale, changed, brief, naming, onAside, onFork, onChanges, onCage } = props;
  const going = view.waiting_calls.length > 0 ? "waiting-for-another-session" : view.state;
  const state = view.items.length > 0 ? "asking" : going;
  const isOpen = view.state === "idle" || view.state === "working";
  return (
    <div class="sub">
      {naming.value ? (
        <Naming
          title={title}
          onDone={(name) => {
            naming.value = false;
            if (name !== null && name !== title) props.onName(name);
          }}
        />
      ) : (
        <>
          <h1 class="cut" title={title}>
            {title}
          </h1>
          <button
            type="button"
            class="btn ghost sm icon desk"
            aria-label="Rename the session"
            title="Rename the session"
            {...barred("operate")}
            onClick={() => {
              naming.value = true;
            }}
          >
            <Icon name="pencil" />
          </button>
        </>
      )}
      <Status state={state} stale={stale} />
      <CageBadge view={view} onOpen={onCage} />
      <span class="small faint mono cut desk">{visible(view.cwd)}</span>
      {view.machine != null && isOpen && (
        <span class="small muted nowrap desk">
          on <a href="/machines.html">{visible(view.machine)}</a>
        </span>
      )}
      <span class="grow" />
      <span class="phone-only small muted num">{shortly(brief)}</span>
      <span class="row tools">
        {changed !== null && (
          <button type="button" class="btn ghost sm desk" onClick={onChanges}>
            <Icon name="file" />
            Changes {changed}
          </button>
        )}
        {isOpen && (
          <button
            type="button"
            class="btn ghost sm"
            aria-label="Ask a side question"
            title="Ask a side question"
            {...barred("operate")}
            onClick={onAside}
          >
            <Icon name="question" />
            <span class="desk">Side question</span>
          </button>
        )}
        {view.state !== "closed" && (
          <button
            type="button"
            class="btn ghost sm desk"
            title={
              onFork === null
                ? "A session can be copied while its agent is idle"
                : "Start a new session as a copy of this one"
            }
            disabled={onFork === null}
            {...barred("operate")}
            onClick={() => onFork?.()}
          >
            <Icon name="fork" />
            Fork
          </button>
        )}
        <button
          type="button"
          class={view.pinned ? "btn ghost sm icon pinned" : "btn ghost sm icon"}
          aria-label="Pin the session"
          aria-pressed={view.pinned}
          title={view.pinned ? "Pinned to the top of Start" : "Pin to the top of Start"}
          {...barred("operate")}
          onClick={props.onPin}
        >
          <Icon name="pin" />
        </button>
        <Export session={view.id} />
      </span>
    </div>
  );
}

/** Enter keeps the name, Esc leaves it as it was. */
function Naming({ title, onDone }: { title: string; onDone: (name: string | null) => void }) {
  const words = useSignal(title);
  const done = () => onDone(words.value.trim() === "" ? null : words.value.trim());
  return (
    <form
      class="row naming"
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <input
        class="input"
        aria-label="Name of the session"
        value={words}
        maxLength={200}
        ref={(field) => {
          if (field && field.dataset.seen === undefined) {
            field.dataset.seen = "";
            field.select();
          }
        }}
        onInput={(event) => {
          words.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onDone(null);
        }}
      />
      <button type="submit" class="btn sm">
        Rename
      </button>
    </form>
  );
}

const FORMATS = [
  ["markdown", "Markdown", "to read or paste"],
  ["jsonl", "JSON Lines", "every event, for scripts"],
  ["html", "HTML", "one file, to keep or share"],
] as const;

function Export({ session }: { session: string }) {
  const open = useSignal(false);
  const { saving, trouble, saveAll } = useSaving();
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open.value) return undefined;
    const leave = (event: Event) => {
      const isKey = event instanceof KeyboardEvent;
      if (isKey && event.key !== "Escape") return;
      if (!isKey && place.current?.contains(event.target as Node)) return;
      open.value = false;
      if (isKey) place.current?.querySelector("button")?.focus();
    };
    document.addEventListener("keydown", leave);
    document.addEventListener("pointerdown", leave);
    return () => {
      document.removeEventListener("keydown", leave);
      document.removeEventListener("pointerdown", leave);
    };
  }, [open.value, open]);
  return (
    <span class="drop" ref={place}>
      <button
        type="button"
        class="btn ghost sm"
        aria-label="Export"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <Icon name="download" />
        <span class="desk">Export</span>
      </button>
      {open.value && (
        <ul class="dropped">
          {FORMATS.map(([format, word, why]) => (
            <li key={format}>
              <button
                type="button"
                disabled={saving}
                onClick={async () => {
                  const path = `/api/v1/sessions/${session}/export?format=${format}`;
                  if (await saveAll([path])) open.value = false;
                }}
              >
                {word}
                <small>{why}</small>
              </button>
            </li>
          ))}
          {trouble !== null && (
            <li class="trouble pad" role="alert">
              {visible(trouble)}
            </li>
          )}
        </ul>
      )}
    </span>
  );
}
