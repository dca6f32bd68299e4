/** Beside the conversation: what was changed, what it took, and what the session is. */

import { useRef } from "preact/hooks";
import type { CageProfile, SessionView } from "../api/types.gen";
import { now } from "../live/feed";
import { Diffs, isSplit } from "../parts/diffs";
import { Icon } from "../parts/icon";
import { began, byTask, fully, visible } from "../words";
import { CageFacts } from "./cage";
import type { Changes } from "./changes";
import { ExtensionFacts } from "./extensions";
import { type FilePlace, FileView } from "./file";
import { SetupFacts } from "./setup";
import { type Brief, UsageFacts } from "./usage";

export type PanelPart = "changes" | "usage" | "session" | "cage" | "file";

type Props = {
  view: SessionView;
  model: string;
  changes: Changes;
  brief: Brief;
  /** What the profile of its cage says. */
  terms: CageProfile | null;
  part: PanelPart;
  /** The file that somebody opened last. */
  file: FilePlace | null;
  onPart: (part: PanelPart) => void;
  onHide: () => void;
};

export function Panel(props: Props) {
  const { view, model, changes, brief, terms, part, file, onPart, onHide } = props;
  const many = changes.files.length;
  const tabs: Tab<PanelPart>[] = [
    { name: "changes", word: "Changes", count: many },
    { name: "usage", word: "Usage" },
    { name: "session", word: "Session" },
    ...(hasCageTab(view, part) ? [{ name: "cage" as const, word: "Cage" }] : []),
    ...(file === null ? [] : [{ name: "file" as const, word: nameOf(file.path) }]),
  ];
  const isWide = part === "changes" && many > 0 && isSplit();
  return (
    <aside class={isWide ? "panelside sides" : "panelside"} aria-label="About this session">
      <div class="ptop">
        <Tabs
          tabs={tabs}
          chosen={part}
          label="Session details"
          controls="panel-part"
          onChoose={onPart}
        />
        <button
          type="button"
          class="btn ghost sm icon"
          aria-label="Hide the panel"
          title="Hide the panel"
          onClick={onHide}
        >
          <Icon name="cross" />
        </button>
      </div>
      <div
        id="panel-part"
        class="scroll"
        role="tabpanel"
        aria-label={tabs.find(({ name }) => name === part)?.word}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too
        tabIndex={0}
      >
        {part === "changes" && <Changed changes={changes} />}
        {part === "file" && file !== null && <FileView session={view.id} place={file} />}
        {part === "cage" && <CageFacts view={view} terms={terms} />}
        {part === "usage" && (
          <div class="pad">
            <UsageFacts brief={brief} />
          </div>
        )}
        {part === "session" && (
          <div class="pad">
            <SessionFacts view={view} model={model} />
            <SetupFacts view={view} />
            <ExtensionFacts
              session={view.id}
              folder={view.cwd}
              isOpen={view.state === "idle" || view.state === "working"}
              turns={view.turns}
            />
            <div class="where-narrow">
              <UsageFacts brief={brief} />
            </div>
          </div>
        )}
      </div>
    </aside>
  );
}

/** Where there is none, only who asks about it is told so. */
export const hasCageTab = (view: SessionView, part: PanelPart): boolean =>
  view.cage_profile != null || part === "cage";

const nameOf = (path: string): string => visible(path.split("/").at(-1) ?? path).slice(0, 40);

function Changed({ changes }: { changes: Changes }) {
  if (changes.files.length > 0) return <Diffs files={changes.files} more={changes.more} />;
  return (
    <div class="empty">
      <Icon name="file" size="big" />
      <h2>No changes yet</h2>
      <p>Files that the agent changes appear here with their diffs.</p>
    </div>
  );
}

const SessionFacts = ({ view, model }: { view: SessionView; model: string }) => (
  <section>
    <h2>Session</h2>
    <dl class="facts">
      <dt>Model</dt>
      <dd>{visible(model)}</dd>
      <dt>Permissions</dt>
      <dd>{view.policy}</dd>
      <dt>Folder</dt>
      <dd class="mono small">{visible(view.cwd)}</dd>
      <dt>Started</dt>
      <dd title={fully(view.created_at)}>{began(view.created_at, now.value)}</dd>
      <dt>Started by</dt>
      <dd>{visible(byTask(view.who))}</dd>
      <dt>ID</dt>
      <dd class="mono small">{view.id}</dd>
    </dl>
  </section>
);

export type Tab<Name extends string> = { name: Name; word: string; count?: number };

type TabsProps<Name extends string> = {
  tabs: readonly Tab<Name>[];
  chosen: Name;
  label: string;
  /** The id of what they choose a part of. */
  controls: string;
  class?: string;
  onChoose: (name: Name) => void;
};

export function Tabs<Name extends string>(props: TabsProps<Name>) {
  const { tabs, chosen, label, controls, class: look = "", onChoose } = props;
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = (at + by + tabs.length) % tabs.length;
    onChoose(tabs[next]?.name ?? chosen);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div class={`tabs ${look}`} role="tablist" aria-label={label} ref={list}>
      {tabs.map(({ name, word, count }) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          aria-controls={controls}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
          onKeyDown={move}
        >
          {word} {count !== undefined && count > 0 && <span class="faint">{count}</span>}
        </button>
      ))}
    </div>
  );
}
