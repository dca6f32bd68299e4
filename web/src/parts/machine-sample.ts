/** Machines for tests. */

import type { WorkerFacts, WorkerList, WorkerRun } from "../api/types.gen";

export const run = (id: string, more: Partial<WorkerRun> = {}): WorkerRun => ({
  id,
  kind: "run",
  job: id,
  title: id,
  state: "running",
  started_at: 0,
  done: 1,
  working: ["a"],
  waits_for: null,
  cwd: "/w",
  can_move: true,
  ...more,
});

export const worker = (name: string, more: Partial<WorkerFacts> = {}): WorkerFacts => ({
  id: `wrk_${name}`,
  name,
  host: `${name}.lan`,
  pid: 1,
  version: "1.0.0",
  state: "alive",
  is_here: false,
  has_pages: false,
  beat_age_ms: 1_000,
  is_heard: true,
  takeover_ms: null,
  seen_at: 0,
  slots: 4,
  slots_used: 0,
  runs: [],
  labels: [],
  roots: [],
  shared_roots: [],
  clock_offset_ms: 0,
  began_at: null,
  ended_at: null,
  runs_left: 0,
  ...more,
});

export const silent = (...runs: WorkerRun[]): WorkerFacts =>
  worker("build-7", { is_heard: false, beat_age_ms: 14_000, takeover_ms: 8_000, runs });

export const listed = (...items: WorkerFacts[]): WorkerList => ({
  items,
  waiting: [],
  is_shared: true,
  tasks_waiting: 0,
  lease_ms: 20_000,
  database: "PostgreSQL 15.6",
  answered_ms: 2,
});
