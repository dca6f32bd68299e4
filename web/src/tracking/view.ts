/** How the page is looked at: what is folded, how large, which views are open. Kept while it is open. */

import { signal } from "@preact/signals";
import type { Step } from "./blocks";
import type { ShownParts } from "./fold";

export type Dock = "timeline" | "events";
/** `side` is the report, or whatever else stands there. */
export type PhoneView = "side" | "chart" | Dock;

export const shownParts = signal<ShownParts>({
  foldSiblings: true,
  hideSucceeded: false,
  failedOnly: false,
  open: new Set(),
});
export const zoom = signal(1);
export const dock = signal<Dock>("timeline");
export const phoneView = signal<PhoneView>("side");
/** The tasks of a wide part that was opened, for the list of them. */
export const listed = signal<readonly Step[] | null>(null);
/** Whether the list of events has those of the selected task alone. */
export const onlyTask = signal(false);
/** The session in which somebody is asked, to be shown as soon as its tab is there. */
export const asking = signal<string | null>(null);

export function ask(change: Partial<ShownParts>): void {
  shownParts.value = { ...shownParts.value, ...change };
}
