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
  /** What the right part shows; null is the task where one is selected, else the report. */
  tab: RunTab | null;
};

const TABS = ["report", "task", "changes", "definition", "items"] as const;
export type RunTab = (typeof TABS)[number];

export type SelectedEvent = { of: "run" | "task"; seq: number };

export const NOTHING: Selection = {
  node: null,
  iteration: null,
  attempt: null,
  event: null,
  tab: null,
};

export const tabOf = ({ tab, node }: Selection): RunTab =>
  tab === null || (tab === "task" && node === null) ? (node === null ? "report" : "task") : tab;

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
    tab: TABS.find((tab) => tab === said.get("tab")) ?? null,
  };
}

export function writeFragment(selection: Selection): string {
  const { node, iteration, attempt, event } = selection;
  const tab = tabOf(selection);
  const said = new URLSearchParams();
  if (node !== null) said.set("node", String(node));
  if (node !== null && iteration !== null) said.set("iteration", String(iteration));
  if (node !== null && attempt !== null) said.set("attempt", String(attempt));
  if (event !== null) said.set("event", `${event.of}-${event.seq}`);
  if (tab !== (node === null ? "report" : "task")) said.set("tab", tab);
  return said.size === 0 ? "" : `#${said}`;
}

/** Which view a selection came from: that one does not scroll. */
export type Origin = "chart" | "timeline" | "events" | "side" | "address";

export type Choice = {
  selection: ReadonlySignal<Selection>;
  origin: ReadonlySignal<Origin>;
  select: (change: Partial<Selection>, origin: Origin) => void;
  /** What a page opens with by itself: nobody chose it, so that the address stays as it is. */
  begin: (selection: Selection) => void;
  /** A second click on what is selected and shown clears it. */
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
    begin: (selection) => {
      state.value = { selection, origin: "address" };
    },
    toggle: (node, origin) => {
      const { selection } = state.value;
      const isShown = selection.node === node && tabOf(selection) === "task";
      put(isShown ? NOTHING : { ...NOTHING, node }, origin);
    },
  };
}
