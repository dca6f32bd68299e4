/** The keys of a page. None without a modifier works while a text field has focus. */

import { useLayoutEffect } from "preact/hooks";

export type Press = {
  key: string;
  /** Ctrl, or Cmd on a Mac. */
  ctrl: boolean;
  alt: boolean;
  inField: boolean;
};

export type Meaning =
  | { kind: "palette" | "shortcuts" | "leave" | "go" | "nothing" }
  | { kind: "page"; key: string }
  | { kind: "key"; key: string };

/** `going`: G was pressed just before. Pure. */
export function meaningOf(press: Press, going: boolean): Meaning {
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (press.ctrl) return { kind: key === "k" && !press.alt ? "palette" : "nothing" };
  if (press.alt) return { kind: "nothing" };
  if (key === "Escape") return { kind: "leave" };
  if (press.inField) return { kind: "nothing" };
  if (going) return { kind: "page", key };
  if (key === "?") return { kind: "shortcuts" };
  if (key === "g") return { kind: "go" };
  return { kind: "key", key };
}

const TYPED = new Set(["checkbox", "radio", "button", "submit", "reset", "range", "color", "file"]);

/** Where letters are written. */
export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !TYPED.has(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}

export const pressOf = (event: KeyboardEvent): Press => ({
  key: event.key,
  ctrl: event.ctrlKey || event.metaKey,
  alt: event.altKey,
  // Where it really came from: what has a shadow root passes its keys on as its own.
  inField: isField(event.composedPath()[0] ?? event.target),
});

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const layers: Keys[] = [];

/** What a key means to the page that is shown: whoever came last is asked first. */
export function pageKey(key: string): ((event: KeyboardEvent) => void) | undefined {
  for (const layer of layers.toReversed()) {
    const does = layer[key];
    if (does !== undefined) return does;
  }
  return undefined;
}

/** Keys of a part of the page, for as long as it is there: `{ j: next, k: previous }`. */
export function useKeys(keys: Keys): void {
  // Not a frame later: who sees it may press at once.
  useLayoutEffect(() => {
    layers.push(keys);
    return () => {
      layers.splice(layers.lastIndexOf(keys), 1);
    };
  });
}
