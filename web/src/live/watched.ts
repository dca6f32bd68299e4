/** What a page watches: its state, and how that stands. */

import type { ReadonlySignal } from "@preact/signals";

export type Watched<State> = {
  state: ReadonlySignal<State>;
  /** Whether the first whole answer is there. */
  loaded: ReadonlySignal<boolean>;
  /** Why it cannot be shown, in the server's words: not found, or refused. */
  trouble: ReadonlySignal<string | null>;
  /** Asks again at once. */
  again: () => void;
  stop: () => void;
};
