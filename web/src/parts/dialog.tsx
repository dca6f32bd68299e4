/** A dialog of the browser's own: focus goes in, stays in, and comes back where it was. */

import { signal } from "@preact/signals";
import { type ComponentChildren, render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { openModal } from "./modal";

type Props = {
  title: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
};

/** The element with `data-first` has focus at the beginning: the one that changes nothing. */
export function Dialog({ title, onClose, children, wide = false }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key, which otherwise would still be the page's.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const close = openModal(dialog);
    dialog.querySelector<HTMLElement>("[data-first]")?.focus();
    dialog.scrollTo(0, 0); // its title is read first, however long it is
    return close;
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dlg wide" : "dlg"}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault(); // the one who opened it closes it
        onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()} // no key of the page works below a dialog
    >
      <h2 id="dialog-title" class="q b">
        {title}
      </h2>
      <div class="dlg-in">{children}</div>
    </dialog>
  );
}

export type Question = {
  title: string;
  /** What ends and what is kept. */
  body: ComponentChildren;
  action: string;
  keep?: string;
  danger?: boolean;
  wide?: boolean;
};

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null);
let place: HTMLElement | null = null;

/** Asks once. The button that changes nothing has focus; Esc is a no. */
export function confirmed(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  if (place === null) {
    place = document.body.appendChild(document.createElement("div"));
    render(<Asked />, place);
  }
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

function Asked() {
  const question = asked.value;
  if (question === null) return null;
  const { title, body, action, keep = "Cancel", danger = true, wide = false, answer } = question;
  return (
    <Dialog title={title} wide={wide} onClose={() => answer(false)}>
      <div>{body}</div>
      <div class="row wrap">
        <button
          type="button"
          class={danger ? "btn danger" : "btn primary"}
          onClick={() => answer(true)}
        >
          {action}
        </button>
        <button type="button" class="btn" data-first onClick={() => answer(false)}>
          {keep}
        </button>
      </div>
    </Dialog>
  );
}
