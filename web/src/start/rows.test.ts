import { expect, test } from "vitest";
import type { RunView, SessionView, TaskRunView, Usage } from "../api/types.gen";
import { listed, type Row, rowOfRun, rowOfSession, rowOfTask, runAddress } from "./rows";

const SPENT = { requests: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0 };
const USAGE: Usage = { ...SPENT, cost: 3, sub_agents: SPENT, turns: 1, milliseconds: 1 };
const RUN: RunView = {
  id: "run_1",
  state: "running",
  job: "ship it",
  title: "",
  entry: "e",
  cwd: "/w",
  who: "owner",
  created_at: 1_000,
  updated_at: 2_000,
  seq: 5,
  running: [],
  works_succeeded: 2,
  works_failed: 0,
  restarts: 0,
  time: 1,
  attempt: 1,
  usage: USAGE,
  trusted: true,
  redo: [],
  short_title: "",
  input_start: "",
  labels: [],
  tags: [],
};
const SESSION: SessionView = {
  id: "ses_1",
  state: "working",
  model: "gpt-5.2",
  cwd: "/w",
  policy: "ask",
  who: "owner",
  created_at: 1_000,
  updated_at: 4_000,
  seq: 3,
  pinned: false,
  title: "Why \u202edoes it",
  turns: 1,
  queue: [],
  models: [],
  usage: USAGE,
  spending: USAGE,
  limits: {},
  granted: [],
  allowances: [],
  items: [],
  waiting_calls: [],
  compacting: false,
  restart_number: 0,
  own_policy: false,
  mcp_servers: [],
};
const TASK: TaskRunView = {
  id: "tsk_1",
  state: "running",
  task: "plan it",
  entry: "e",
  model: "gpt-5.2",
  cwd: "/w",
  policy: "ask",
  who: "owner",
  created_at: 1_000,
  updated_at: 2_000,
  seq: 2,
  sessions: [],
  opened: [],
  missions: 0,
  crashes: 0,
  retries: 0,
  usage: USAGE,
  worked_ms: 2_000,
  doing: "",
  unasked: false,
};
const NAMES = new Map([["gpt-5.2", "GPT-5.2"]]);

test("a run is called as its job is in the grid, and by the job where that is not in there", () => {
  expect(rowOfRun(RUN, 0).name).toBe("ship it");
  expect(rowOfRun({ ...RUN, title: "Ship a \u202echange" }, 0)).toMatchObject({
    name: "Ship a ⟨U+202E⟩change",
    href: "/jobTracking.html?jobName=ship+it&jobId=run_1",
  });
});

test("a task by itself says what it waits for, and leads to its session once it has one", () => {
  expect(rowOfTask({ ...TASK, waits_for: "a free place" }, 3_000)).toEqual({
    id: "tsk_1",
    href: null,
    name: "plan it",
    state: "waiting",
    about: "Task · Waiting for a free place · /w",
    at: 1_000,
    milliseconds: 2_000,
    cost: "3 premium requests",
    goesOn: true,
  });
  const asks = { ...TASK, waits_for: "a person", for_person: true, opened: ["ses_1", "ses_2"] };
  expect(rowOfTask({ ...asks, sessions: ["ses_1"] }, 0)).toMatchObject({
    state: "waiting-for-person",
    href: "/index.html?session=ses_1",
  });
  const told = { usage: { ...USAGE, milliseconds: 4_000 }, worked_ms: 0 };
  const ended = { ...TASK, ...told, state: "crashed", ended_at: 5_000, session: "ses_9" } as const;
  expect(rowOfTask(ended, 9_000)).toMatchObject({
    state: "failed",
    href: "/index.html?session=ses_9",
    goesOn: false,
    milliseconds: 4_000,
  });
});

test("a run that goes on counts what its tasks worked, and those at work until now", () => {
  const running = [{ worked_ms: 9_999, working_since: 11_000 }] as never;
  expect(rowOfRun({ ...RUN, running }, 61_000)).toEqual({
    id: "run_1",
    href: "/jobTracking.html?jobName=ship+it&jobId=run_1",
    name: "ship it",
    state: "running",
    about: "Job · 2 task runs done, 1 running · /w",
    at: 1_000,
    milliseconds: 60_000,
    cost: "3 premium requests",
    goesOn: true,
  });
});

test("a run that ended says when, how long it worked, and why it ended so", () => {
  const ended = { ...RUN, state: "failed" as const, ended_at: 9_000, reason: "plan: no" };
  expect(rowOfRun(ended, 61_000)).toMatchObject({
    at: 9_000,
    milliseconds: 1,
    about: "Job · plan: no · /w",
    goesOn: false,
  });
});

test("a run that succeeded needs no reason", () => {
  const ended = { ...RUN, state: "succeeded" as const, ended_at: 9_000, reason: "All did." };
  expect(rowOfRun(ended, 61_000).about).toBe("Job · 2 task runs · /w");
});

test("a run that outlived its server says so", () => {
  expect(rowOfRun({ ...RUN, restarts: 1 }, 2_000)).toMatchObject({
    state: "resumed",
    about: "Job · resumed after a restart, 2 task runs done · /w",
  });
});

test("a run that waits says for what", () => {
  const waits = { ...RUN, state: "waiting" as const, waits_for: "a slot" };
  expect(rowOfRun(waits, 2_000).about).toBe("Job · Waiting for a slot · /w");
});

test("a session has its model's name, and no hidden character", () => {
  expect(rowOfSession(SESSION, NAMES)).toMatchObject({
    href: "/index.html?session=ses_1",
    name: "Why ⟨U+202E⟩does it",
    about: "Session · GPT-5.2 · /w",
    milliseconds: 2,
    goesOn: true,
  });
  expect(rowOfSession({ ...SESSION, title: "" }, NAMES).name).toBe("Untitled");
  expect(rowOfSession({ ...SESSION, cage_profile: "default" }, NAMES).about).toBe(
    "Session, caged · GPT-5.2 · /w",
  );
});

test("a session at rest is over for now, and worked as long as its turns took", () => {
  expect(rowOfSession({ ...SESSION, state: "idle" }, NAMES)).toMatchObject({
    at: 4_000,
    milliseconds: 2,
    goesOn: false,
  });
});

test("what waits for a person comes first, then the newest, each once", () => {
  const row = (id: string, at: number, more: Partial<Row> = {}): Row => ({
    ...rowOfRun(RUN, 2_000),
    id,
    at,
    ...more,
  });
  const done = { goesOn: false, state: "succeeded" };
  const rows = [
    row("a", 1, { state: "waiting-for-person" }),
    row("b", 3),
    row("c", 2, done),
    row("d", 4, done),
    row("b", 3),
  ];
  const { running, recent } = listed(rows);
  expect(running.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(recent.map(({ id }) => id)).toEqual(["d", "c"]);
});

test("a preview is a run's address without the run", () => {
  expect(runAddress("a&b", null)).toBe("/jobTracking.html?jobName=a%26b");
});

test("what is pinned stands before what is newer, and behind what waits for a person", () => {
  const one = (id: string, at: number, more: object = {}) => ({
    ...rowOfRun({ ...RUN, id }, 0),
    at,
    goesOn: false,
    ...more,
  });
  const rows = [one("old", 1, { pinned: true }), one("new", 9), one("waits", 2, { goesOn: true })];
  const { running, recent } = listed(rows);
  expect([running.map(({ id }) => id), recent.map(({ id }) => id)]).toEqual([
    ["waits"],
    ["old", "new"],
  ]);
});
