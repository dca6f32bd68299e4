/** The box where a request is written, with what it offers while one writes. */

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";
import type { SessionView } from "../api/types.gen";
import { take } from "./attachments";
import { type Wanted, wantedAt, withFile } from "./mentions";
import { Menu, type SlashCommand, useMenu } from "./menu";
import type { Outbox } from "./outbox";

/** As many as the server takes. */
const MOST_PATHS = 20;

type WritingProps = {
  area: { current: HTMLTextAreaElement | null };
  view: SessionView;
  outbox: Outbox;
  commands: readonly SlashCommand[];
  changed: readonly string[];
  hint: string;
  off: boolean;
  takesText: boolean;
};

export function Writing(props: WritingProps) {
  const { area, view, outbox, commands, changed, off, takesText } = props;
  const wanted = useSignal<Wanted | null>(null);
  const place = useSignal(0);
  const id = useId();
  const draft = outbox.draft.value;

  const look = () => {
    const field = area.current;
    if (field === null) return;
    const next = takesText ? wantedAt(field.value, field.selectionStart) : null;
    if (JSON.stringify(next) !== JSON.stringify(wanted.value)) place.value = 0;
    wanted.value = next;
  };
  const close = () => {
    wanted.value = null;
  };
  const items = useMenu(view.id, wanted.value, commands, changed, {
    command: (command) => {
      close();
      if (command.takes !== undefined) return write(`/${command.name} `, command.name.length + 2);
      outbox.write("");
      command.run("");
    },
    file: (path) => {
      const field = area.current;
      if (field === null || wanted.value?.kind !== "file") return;
      const now = withFile(field.value, wanted.value.from, field.selectionStart, path);
      close();
      outbox.paths.value = [...new Set([...outbox.paths.peek(), path])].slice(-MOST_PATHS);
      write(now.text, now.caret);
    },
  });
  function write(text: string, caret: number): void {
    outbox.write(text);
    const field = area.current;
    if (field === null) return;
    field.value = text;
    field.focus();
    field.setSelectionRange(caret, caret);
  }
  function press(event: KeyboardEvent): void {
    if (wanted.value === null) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = items[Math.min(place.value, items.length - 1)];
    if (event.key === "Escape") {
      close();
      event.stopPropagation();
    } else if (step !== undefined && items.length > 0) {
      place.value = (place.value + step + items.length) % items.length;
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen !== undefined) {
      if (event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      chosen.choose();
    } else return;
    event.preventDefault();
  }
  useLayoutEffect(() => grow(area.current), [draft]);
  const isOpen = wanted.value !== null;
  return (
    <>
      {wanted.value !== null && (
        <Menu items={items} wanted={wanted.value} place={place.value} id={id} />
      )}
      <textarea
        ref={area}
        class="area"
        rows={2}
        aria-label="Your message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={isOpen && items.length > 0 ? `${id}-${place.value}` : undefined}
        placeholder={props.hint}
        disabled={off}
        readOnly={outbox.phase.value.kind === "sending" || !takesText}
        value={takesText ? draft : ""}
        onInput={(event) => {
          outbox.write(event.currentTarget.value);
          look();
        }}
        onSelect={look}
        onBlur={close}
        onKeyDown={press}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void take(outbox, files);
        }}
      />
    </>
  );
}

/** As high as what is in it, for browsers that do not do so themselves; the styles say how far. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null || CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

type BeginProps = {
  mark: string;
  label: string;
  area: { current: HTMLTextAreaElement | null };
  outbox: Outbox;
};

/** Writes the mark, as if it was typed. */
export function Begin({ mark, label, area, outbox }: BeginProps) {
  return (
    <button
      type="button"
      class="btn ghost sm icon mono"
      aria-label={label}
      title={`${label} (${mark})`}
      onClick={() => {
        const field = area.current;
        if (field === null || (mark === "/" && field.value !== "")) return field?.focus();
        const at = field.selectionStart;
        const gap = at > 0 && !/\s/.test(field.value.charAt(at - 1)) ? " " : "";
        field.focus();
        field.setRangeText(gap + mark, at, field.selectionEnd, "end");
        outbox.write(field.value);
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }}
    >
      {mark}
    </button>
  );
}
