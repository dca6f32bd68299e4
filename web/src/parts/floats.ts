/** What floats above the page: at most one at a time. */

import { signal } from "@preact/signals";

export const floating = signal<"palette" | "shortcuts" | "menu" | null>(null);

export const float = (what: typeof floating.value): void => {
  floating.value = what;
};
