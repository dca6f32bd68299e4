/** A run as a page knows it: its view and all its works (`model/runs.py`). Pure. */

import type { RunDetail, RunningWork, WorkRecord } from "../api/types.gen";
import { ENDED, paused } from "./figures";
import type { Event, Recorded } from "./types";
import { addUsage, NO_USAGE, usageOf } from "./usage";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

const UNBEGUN = "a worker to begin it";
const ASKS = "waiting-for-person";

function beginRun(id: string, { seq, at, event }: Recorded): RunDetail | null {
  if (event.kind !== "run.accepted") return null;
  return {
    id,
    state: "waiting",
    job: event.job,
    entry: event.entry,
    cwd: event.cwd,
    who: event.who,
    created_at: at,
    updated_at: at,
    seq,
    again: event.again ?? null,
    title: event.title ?? "",
    running: [],
    works_succeeded: 0,
    works_failed: 0,
    restarts: 0,
    time: 1,
    attempt: 1,
    usage: NO_USAGE,
    waits_for: UNBEGUN,
    ending: null,
    trusted: event.trusted ?? false,
    redo: [],
    reason: null,
    ended_at: null,
    short_title: event.short_title ?? "",
    input_start: event.input_start ?? "",
    tags: [],
    cage: event.cage ?? null,
    caged: event.caged ?? null,
    machine: null,
    moved: null,
    labels: event.labels ?? [],
    user_input: event.user_input,
    works: [],
  };
}

/** A run waits when all that it has begun waits; for a person, when one of them does. */
function withWorks(running: readonly RunningWork[]): Partial<RunDetail> {
  const [first] = running;
  if (first === undefined || !running.every((work) => work.waits_for)) {
    return { running, state: "running", waits_for: null };
  }
  const asks = running.find((work) => work.for_person);
  const state = asks ? "waiting-for-person" : "waiting";
  return { running, state, waits_for: (asks ?? first).waits_for ?? null };
}

function withWait(
  run: RunDetail,
  at: number,
  path: string,
  waits_for: string | null,
  for_person: boolean,
): Partial<RunDetail> {
  return withWorks(
    run.running.map((work) =>
      work.path === path
        ? { ...work, waits_for, for_person, ...paused(work, at, waits_for !== null) }
        : work,
    ),
  );
}

function stopped(run: RunDetail, event: Of<"run.work.stopped">): Partial<RunDetail> {
  return {
    ...withWorks(run.running.filter((work) => work.path !== event.path)),
    works_succeeded: run.works_succeeded + (event.succeeded ? 1 : 0),
    works_failed: run.works_failed + (event.succeeded ? 0 : 1),
    usage: addUsage(run.usage, event.usage),
  };
}

/** What was at work is cut off; what waited goes on waiting. */
function moved(run: RunDetail, at: number, event: Of<"run.moved">): Partial<RunDetail> {
  const again = run.running.filter((work) => !work.waits_for).map((work) => work.task);
  const { from: before, to, reason } = event;
  const done = run.works_succeeded;
  return { machine: to, moved: { at, before, to, reason, again, done } };
}

function changes(run: RunDetail, at: number, event: Event): Partial<RunDetail> {
  switch (event.kind) {
    case "run.work.started": {
      const { kind: _kind, ...begun } = event;
      const times = { started_at: at, worked_ms: 0, working_since: at };
      const work = { ...begun, ...times, waits_for: null, for_person: false };
      return withWorks([...run.running, work]);
    }
    case "run.work.waiting":
      return withWait(run, at, event.path, event.reason, event.for_person ?? false);
    case "run.work.going":
      return withWait(run, at, event.path, null, false);
    case "run.work.stopped":
      return stopped(run, event);
    case "run.work.cut":
      return { usage: addUsage(run.usage, event.usage) };
    case "run.resumed":
      return { restarts: run.restarts + 1 };
    case "run.placed":
      return { machine: event.machine };
    case "run.moved":
      return { restarts: run.restarts + 1, ...moved(run, at, event) };
    case "run.retried":
      return {
        state: "waiting",
        waits_for: UNBEGUN,
        time: event.time,
        attempt: event.time,
        reason: null,
        ended_at: null,
        running: [],
        redo: event.redo ?? [],
        moved: null,
      };
    case "run.ending":
      return { ending: event, reason: event.reason };
    case "run.error":
      return { reason: event.message };
    case "run.renamed":
      return { short_title: event.short_title };
    case "run.tagged":
      return { tags: event.tags };
    case "run.ended":
      return {
        state: event.outcome,
        reason: event.reason,
        ended_at: at,
        running: [],
        waits_for: null,
        ending: null,
      };
    default: // a newer server may say more than we know
      return {};
  }
}

/** The works, changed in place: the list and the place of each are the batch's own. */
class Works {
  readonly list: WorkRecord[];
  readonly #places: Map<string, number>;
  /** Those without an end: of thousands of works, few. */
  readonly #open: Set<number>;

  constructor(works: readonly WorkRecord[]) {
    this.list = [...works];
    this.#places = new Map(works.map((work, place) => [work.task_run, place]));
    this.#open = new Set(
      works.flatMap((work, place) => ((work.ended_at ?? null) === null ? [place] : [])),
    );
  }

  tell(at: number, event: Event): void {
    switch (event.kind) {
      case "run.work.started": {
        const { kind: _kind, ...begun } = event;
        const since = { worked_ms: 0, working_since: at };
        const times = { started_at: at, ended_at: null, waits_for: null, ...since };
        const tries = { retried_at: [], retries: null, unasked: false, conclusion: "" };
        this.#put({ ...begun, ...times, ...tries, state: "running", usage: NO_USAGE });
        return;
      }
      case "run.work.retrying":
        this.#retry(at, event);
        return;
      case "run.work.waiting":
        this.#wait(at, event.path, event.for_person ? ASKS : "waiting", event.reason);
        return;
      case "run.work.going":
        this.#wait(at, event.path, "running", null);
        return;
      case "run.work.stopped": {
        const state = event.succeeded ? "succeeded" : "failed";
        this.#change(event.task_run, {
          state,
          ended_at: at,
          ...ENDED,
          waits_for: null,
          unasked: event.unasked ?? false,
          usage: usageOf(event.usage),
          conclusion: event.conclusion ?? "",
        });
        return;
      }
      case "run.work.cut":
        this.#change(event.task_run, { usage: usageOf(event.usage) });
        return;
      case "run.ended":
        for (const place of [...this.#open]) {
          this.#set(place, { state: "canceled", ended_at: at, ...ENDED, waits_for: null });
        }
    }
  }

  #put(work: WorkRecord): void {
    const place = this.#places.get(work.task_run) ?? this.list.length;
    this.#places.set(work.task_run, place);
    this.list[place] = work;
    this.#open.add(place);
  }

  #change(taskRun: string, change: Partial<WorkRecord>): void {
    const place = this.#places.get(taskRun);
    if (place !== undefined) this.#set(place, change);
  }

  #retry(at: number, { task_run, of }: Of<"run.work.retrying">): void {
    const place = this.#places.get(task_run);
    const work = place === undefined ? undefined : this.list[place];
    if (work === undefined) return;
    this.#change(task_run, { retried_at: [...work.retried_at, at], retries: of });
  }

  #wait(at: number, path: string, state: WorkRecord["state"], waits_for: string | null): void {
    for (const place of this.#open) {
      const work = this.list[place];
      if (work?.path !== path) continue;
      this.#set(place, { state, waits_for, ...paused(work, at, waits_for !== null) });
    }
  }

  #set(place: number, change: Partial<WorkRecord>): void {
    const work = this.list[place];
    if (work === undefined) return;
    this.list[place] = { ...work, ...change };
    if (change.ended_at) this.#open.delete(place);
  }
}

/** What was told before is passed over. */
export function reduceRun(
  state: RunDetail | null,
  events: readonly Recorded[],
  id: string,
): RunDetail | null {
  let run = state && { ...state };
  const works = new Works(state?.works ?? []);
  for (const recorded of events) {
    const { seq, at, event } = recorded;
    if (run === null) {
      run = beginRun(id, recorded);
    } else if (seq > run.seq) {
      Object.assign(run, changes(run, at, event), { seq, updated_at: at });
      works.tell(at, event);
    }
  }
  return run && { ...run, works: works.list };
}
