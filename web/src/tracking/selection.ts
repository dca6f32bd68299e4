/** What is selected: one value in the address's fragment, which all views read and write. */

import { computed, type ReadonlySignal, signal } from "@preact/signals";

export type Selection = {
  /** The number of the work in the job. */
  node: number | null;
  /** Which execution of it, from 1; null is the last one. */
  iteration: number | null;
  /** Which tab: 0 is the driving one, then the attempts; null is whichever it opens with. */
  attempt: number | null;
  /** `run` or `task`, and the seq in that stream. */
  event: SelectedEvent | null;
};

export type SelectedEvent = { of: "run" | "task"; seq: number };

export const NOTHING: Selection = { node: null, iteration: null, attempt: null, event: null };

const number = (text: string | null, least: number): number | null =>
  text !== null && /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : null;

export function readFragment(fragment: string): Selection {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const node = number(said.get("node"), 0);
  const event = /^(run|task)-(\d{1,9})$/.exec(said.get("event") ?? "");
  const of = event?.[1] === "run" || event?.[1] === "task" ? event[1] : null;
  return {
    node,
    iteration: node === null ? null : number(said.get("iteration"), 1),
    attempt: node === null ? null : number(said.get("attempt"), 0),
    event: of === null ? null : { of, seq: Number(event?.[2]) },
  };
}

export function writeFragment({ node, iteration, attempt, event }: Selection): string {
  const said = new URLSearchParams();
  if (node !== null) said.set("node", String(node));
  if (node !== null && iteration !== null) said.set("iteration", String(iteration));
  if (node !== null && attempt !== null) said.set("attempt", String(attempt));
  if (event !== null) said.set("event", `${event.of}-${event.seq}`);
  return said.size === 0 ? "" : `#${said}`;
}

/** Which view a selection came from: that one does not scroll. */
export type Origin = "chart" | "timeline" | "events" | "side" | "address";

export type Choice = {
  selection: ReadonlySignal<Selection>;
  origin: ReadonlySignal<Origin>;
  select: (change: Partial<Selection>, origin: Origin) => void;
  /** A second click on what is selected clears it. */
  toggle: (node: number, origin: Origin) => void;
};

export function watchSelection(): Choice {
  const state = signal<{ selection: Selection; origin: Origin }>({
    selection: readFragment(location.hash),
    origin: "address",
  });
  const put = (selection: Selection, origin: Origin) => {
    state.value = { selection, origin };
    const address = location.pathname + location.search + writeFragment(selection);
    history.replaceState(history.state, "", address);
  };
  addEventListener("hashchange", () => {
    state.value = { selection: readFragment(location.hash), origin: "address" };
  });
  return {
    selection: computed(() => state.value.selection),
    origin: computed(() => state.value.origin),
    select: (change, origin) => put({ ...state.value.selection, ...change }, origin),
    toggle: (node, origin) =>
      put(state.value.selection.node === node ? NOTHING : { ...NOTHING, node }, origin),
  };
}
