/** What is said of machines: who is not heard, and what becomes of its runs. Pure. */

import type { RunMove, WorkerFacts, WorkerList } from "../api/types.gen";
import { fully, span, visible } from "../words";

export const lives = ({ state }: Pick<WorkerFacts, "state">): boolean =>
  state === "alive" || state === "draining";

/** One that lives as far as is known, and is silent for longer than usual. */
export const isSilent = (one: WorkerFacts): boolean => lives(one) && !one.is_heard;

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Whether somebody else could go on with its runs. */
const hasOthers = (list: WorkerList, but: WorkerFacts): boolean =>
  list.items.some((one) => one.id !== but.id && lives(one) && one.is_heard && one.slots > 0);

/** Since the answer came, so much time has passed. */
export function silence(one: WorkerFacts, passed: number): string {
  return `${visible(one.name)} not heard for ${span((one.beat_age_ms ?? 0) + passed)};`;
}

function soon(one: WorkerFacts, passed: number): string {
  const left = Math.round(((one.takeover_ms ?? 0) - passed) / 1000);
  return left > 1 ? `in about ${left} s` : "in a moment";
}

/** What becomes of the runs of one that is not heard, in a sentence without its end. */
export function fateOfRuns(list: WorkerList, one: WorkerFacts, passed: number): string {
  const moving = hasOthers(list, one) ? one.runs.filter((run) => run.can_move).length : 0;
  const staying = one.runs.length - moving;
  if (one.runs.length === 0) return "it has no runs";
  const waits = `wait${staying === 1 ? "s" : ""} until it is back`;
  if (moving === 0) return `its ${counted(staying, "run")} ${waits}`;
  const goes = `its ${counted(moving, "run")} go${moving === 1 ? "es" : ""} on elsewhere`;
  const rest = staying === 0 ? "" : `, and ${staying} ${waits}`;
  return `${goes} ${soon(one, passed)}${rest}`;
}

/** The same of one run. */
export function fateOfRun(list: WorkerList, one: WorkerFacts, run: string, passed: number): string {
  const known = one.runs.find(({ id }) => id === run);
  return known?.can_move && hasOthers(list, one)
    ? `this run goes on elsewhere ${soon(one, passed)}`
    : "this run waits until it is back";
}

/** Who took a run over, in the words of the strip's beginning. */
export const takenOver = ({ before, to, at }: RunMove): string =>
  before === to
    ? `${visible(to)} is back and has continued since ${fully(at).slice(-8)}.`
    : `Taken over by ${visible(to)} at ${fully(at).slice(-8)}.`;

/** What begins again with that, and what does not. */
export function startsAgain({ again, done }: RunMove, isOver: boolean): string {
  const kept = `${counted(done, "finished task")} ${isOver ? "stayed" : done === 1 ? "stays" : "stay"} finished.`;
  const names = again.map(visible);
  if (names.length === 0) {
    return `Nothing ${isOver ? "had to start" : "starts"} again${done > 0 ? `; ${kept}` : "."}`;
  }
  const [first] = names;
  const what = names.length === 1 ? `The task ${first}` : `${names.length} tasks`;
  const verb = isOver ? "started" : names.length === 1 ? "starts" : "start";
  const place = names.length === 1 ? "a new session" : "new sessions";
  return `${what} ${verb} again in ${place}${done > 0 ? `; ${kept}` : "."}`;
}

/** How far a clock is ahead of the database's. */
export function clockOffset(ms: number): string {
  const sign = ms > 0 ? "+" : ms < 0 ? "−" : "";
  const size = Math.abs(ms);
  return size < 1_000 ? `${sign}${size} ms` : `${sign}${(size / 1_000).toFixed(1)} s`;
}

/** Far enough to be told. */
export const isOff = (ms: number): boolean => Math.abs(ms) >= 1_000;
