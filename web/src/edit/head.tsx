/** The bar above: which file, in which state, and what can be done with it. */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import { visible } from "../words";
import type { Desk } from "./desk";
import { type Draft, isDirty } from "./draft";
import { nameIn } from "./page";
import type { Example } from "./wire";

type Props = {
  desk: Desk;
  draft: Draft;
  isChart: boolean;
  onChart: () => void;
  whyNot: string | null;
  onRehearse: () => void;
  onExample: (example: Example) => void;
};

export function Head({ desk, draft, isChart, onChart, whyNot, onRehearse, onExample }: Props) {
  const locked = desk.locked.value;
  const whyNotSaved = desk.whyNotSave();
  return (
    <div class="sub edit-head">
      <h1>{visible(nameIn(draft.path))}</h1>
      <span class="small faint mono cut desk" title={visible(draft.path)}>
        {visible(draft.path)}
      </span>
      <Badge draft={draft} locked={locked} isSaving={desk.isSaving.value} />
      <span class="grow" />
      {locked === null && <Examples examples={desk.examples.value} onChoose={onExample} />}
      <button type="button" class="btn sm ghost chart-btn" aria-pressed={isChart} onClick={onChart}>
        <Icon name={isChart ? "pencil" : "job"} />
        {isChart ? "Code" : "Chart"}
      </button>
      {whyNot !== null && (
        <span class="small muted cut why-not" id="why-not-rehearse" title={whyNot}>
          {whyNot}
        </span>
      )}
      <button
        type="button"
        class="btn sm"
        disabled={whyNot !== null}
        aria-describedby={whyNot === null ? undefined : "why-not-rehearse"}
        title={whyNot ?? "Ctrl+Enter"}
        onClick={onRehearse}
      >
        <Icon name="play" />
        Rehearse
      </button>
      <button
        type="button"
        class="btn sm primary"
        disabled={whyNotSaved !== null}
        title={whyNotSaved ?? "Ctrl+S"}
        onClick={() => void desk.save()}
      >
        Save
      </button>
    </div>
  );
}

type BadgeProps = { draft: Draft; locked: string | null; isSaving: boolean };

function Badge({ draft, locked, isSaving }: BadgeProps) {
  const [look, icon, word] =
    locked !== null
      ? (["canceled", "lock", "Read only"] as const)
      : isSaving
        ? (["waiting", "clock", "Saving…"] as const)
        : isDirty(draft)
          ? ([
              "waiting",
              "pencil",
              draft.base.exists ? "Not saved" : "New file, not saved",
            ] as const)
          : draft.base.exists
            ? (["ok", "tick", "Saved"] as const)
            : (["waiting", "file", "New file"] as const);
  return (
    <span class={`st ${look}`} role="status">
      <Icon name={icon} />
      {word}
    </span>
  );
}

type ExamplesProps = { examples: readonly Example[]; onChoose: (example: Example) => void };

function Examples({ examples, onChoose }: ExamplesProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute("open");
  useEffect(() => {
    const leave = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== "Escape") return;
      const isInside = event.target instanceof Node && menu.current?.contains(event.target);
      if (event instanceof PointerEvent && isInside) return;
      close();
    };
    addEventListener("pointerdown", leave);
    addEventListener("keydown", leave);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("keydown", leave);
    };
  }, []);
  if (examples.length === 0) return null;
  return (
    <details class="menu-of examples" ref={menu}>
      <summary class="btn sm ghost">
        <span class="desk">Start from an example</span>
        <span class="phone-only">Examples</span>
        <Icon name="down" size="s" />
      </summary>
      <div class="floating">
        {examples.map((example) => (
          <button
            key={example.name}
            type="button"
            onClick={() => {
              close();
              onChoose(example);
            }}
          >
            <b>{visible(example.title)}</b>
            <small>{visible(example.description)}</small>
          </button>
        ))}
      </div>
    </details>
  );
}
