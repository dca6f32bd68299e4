/** What of all workers is shown, and in which words. Pure. */

import type { WaitingRun, WorkerFacts, WorkerList, WorkerRun } from "../api/types.gen";
import { counted, isSilent, lives } from "../parts/machine-words";
import { span, visible } from "../words";

/** One that ended longer ago is history. */
const DAY_MS = 86_400_000;

/** Those that live, by their names, and those that ended within a day and have not come back. */
export function shown(list: WorkerList, now: number): WorkerFacts[] {
  const living = list.items.filter(lives);
  const back = new Set(living.map(({ name }) => name));
  const gone = list.items.filter((one) => !lives(one) && now - one.seen_at < DAY_MS);
  const last = gone.filter((one, place) => {
    const isLast = gone.findIndex(({ name }) => name === one.name) === place;
    return isLast && !back.has(one.name);
  });
  return [...living.sort(byName), ...last.sort(byName)];
}

const byName = (a: WorkerFacts, b: WorkerFacts): number =>
  Number(b.is_here) - Number(a.is_here) ||
  a.name.localeCompare(b.name, "en", { numeric: true }) ||
  a.id.localeCompare(b.id);

/** All in one line: workers, portals, slots, runs. */
export function summary(list: WorkerList): string {
  const living = list.items.filter(lives);
  const working = living.filter(({ slots }) => slots > 0);
  const portals = living.filter(({ has_pages }) => has_pages);
  const used = working.reduce((sum, one) => sum + one.slots_used, 0);
  const slots = working.reduce((sum, one) => sum + one.slots, 0);
  const runs = living.reduce((sum, one) => sum + one.runs.length, 0);
  const who = list.is_shared
    ? [`${counted(working.length, "worker")}, ${counted(portals.length, "portal")}`]
    : [];
  return [
    ...who,
    `${used} of ${counted(slots, "slot")} in use`,
    ...together(list),
    counted(runs, "run"),
  ].join(" · ");
}

/** Where all machines together have a bound: that, and what waits for it. */
function together({ max_tasks_all: most, tasks_waiting: waiting }: WorkerList): string[] {
  if (!most) return [];
  return [
    `at most ${counted(most, "task")} at once on all machines`,
    ...(waiting ? [`${counted(waiting, "task")} waiting`] : []),
  ];
}

export type Look = { look: "ok" | "stale" | "waiting" | "canceled"; word: string };

/** Who takes new work now, but for the one that has the run. */
export const takers = (list: WorkerList, run: Pick<WaitingRun, "held_by">): WorkerFacts[] =>
  list.items
    .filter(({ name, state, is_heard, slots }) => {
      return state === "alive" && is_heard && slots > 0 && name !== run.held_by;
    })
    .toSorted(byName);

/** `isStale` where the page has not heard of the server for long. */
export function lookOf(one: WorkerFacts, isStale = false): Look {
  if (isSilent(one)) {
    return {
      look: "stale",
      word: `Not heard, was ${one.state === "draining" ? "Draining" : "Alive"}`,
    };
  }
  if (isStale && lives(one)) {
    return { look: "stale", word: `Stale, was ${one.state === "draining" ? "Draining" : "Alive"}` };
  }
  switch (one.state) {
    case "alive":
      return { look: "ok", word: "Alive" };
    case "draining":
      return { look: "waiting", word: `Draining, ${one.runs.length} left` };
    case "lost":
      return { look: "stale", word: "Lost" };
    default:
      return { look: "canceled", word: "Left" };
  }
}

/** How long ago it was heard, `passed` milliseconds after the answer. */
export function heard(one: WorkerFacts, passed: number, now: number): string {
  const age = one.beat_age_ms;
  return `${span(age == null ? Math.max(0, now - one.seen_at) : age + passed)} ago`;
}

/** Below its name: where it is, and what it can. */
export function about(one: WorkerFacts): string {
  const parts = [one.host, ...one.labels];
  if (one.is_here) parts.push("this page");
  if (one.slots === 0 && one.has_pages) parts.push("pages only");
  return parts.map(visible).join(", ");
}

/** What a run comes to: how far it is, and what its machine's loss means for it. */
export function progress(run: WorkerRun, silent: boolean): string {
  const done = `${counted(run.done, "task")} done.`;
  if (run.state === "waiting-for-person") return `${done} Waits for you; holds no slot.`;
  if (run.working.length === 0) {
    if (run.waits_for != null) return `${done} Waits for ${visible(run.waits_for)}.`;
    return silent ? `${done} Between two tasks, so nothing starts again.` : done;
  }
  const [first] = run.working;
  const names = run.working.map(visible).join(", ");
  if (!silent) return `${done} Working on ${names}.`;
  return run.working.length === 1
    ? `${done} The task ${visible(first ?? "")} starts again.`
    : `${done} The tasks ${names} start again.`;
}

/** Why nobody works on it. */
export function whyWaiting(run: WaitingRun): string {
  const waits = run.waits_for == null ? "" : ` Waits for ${visible(run.waits_for)}.`;
  if (run.can_move || run.held_by == null) {
    return `${waits.trim() === "" ? "Waits for a machine with a free slot." : waits.trim()}`;
  }
  const who = visible(run.held_by);
  return `Its folder ${visible(run.cwd)} is only on ${who}. It continues when ${who} is back.`;
}

export type Happened = { at: number; who: string; what: string };

/** What came and went within a day of when the list was told, the newest first. */
export function happened(list: WorkerList, now: number): Happened[] {
  const all: Happened[] = [];
  for (const one of list.items) {
    const who = visible(one.name);
    if (one.began_at != null) all.push({ at: one.began_at, who, what: "started" });
    if (isSilent(one)) {
      all.push({ at: now - (one.beat_age_ms ?? 0), who, what: "was last heard" });
    }
    if (one.ended_at == null) continue;
    const had = one.runs_left === 0 ? "" : ` with ${counted(one.runs_left, "run")}`;
    all.push({
      at: one.ended_at,
      who,
      what: `${one.state === "lost" ? "was lost" : "left"}${had}`,
    });
  }
  const recent = all.filter(({ at }) => now - at < DAY_MS);
  return recent.sort((a, b) => b.at - a.at).slice(0, 12);
}
