import { expect, test } from "vitest";
import type { Hit, RunView, SessionView } from "../api/types.gen";
import {
  behind,
  canRetry,
  folded,
  lastPart,
  merged,
  type Read,
  type Row,
  refreshed,
  rowOfHit,
  things,
} from "./rows";

const row = (id: string, at: number, state = "closed"): Row => ({
  key: id,
  id,
  source: "sessions",
  href: "",
  name: id,
  state,
  kind: "Session",
  folder: "",
  model: "",
  at,
  worked: () => 0,
  requests: 0,
  cost: 0,
});
const read = (cursor: string | null, ...rows: Row[]): Read => ({ rows, cursor });
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);

test("two lists are one, newest first", () => {
  expect(ids(merged([read(null, row("a", 9), row("c", 5)), read(null, row("b", 7))]))).toEqual([
    "a",
    "b",
    "c",
  ]);
});

test("what lies deeper than the other list was read is kept back", () => {
  const runs = read("next", row("r9", 9), row("r8", 8));
  const sessions = read(null, row("s7", 7), row("s8", 8.5));
  expect(ids(merged([runs, sessions]))).toEqual(["r9", "s8", "r8"]);
  expect(behind([runs, sessions])).toBe(runs);
  expect(behind([read(null), read(null)])).toBeNull();
});

test("of two lists the one that is less far back is read on", () => {
  const near = read("n", row("a", 8));
  expect(behind([read("f", row("b", 3)), near])).toBe(near);
});

test("rows keep their place and learn how they stand; new ones are only counted", () => {
  const old = [row("a", 5, "working"), row("b", 4)];
  const { rows, more } = refreshed(old, [row("new", 6), row("a", 5, "closed"), row("b", 4)]);
  expect(rows.map(({ id, state }) => [id, state])).toEqual([
    ["a", "closed"],
    ["b", "closed"],
  ]);
  expect(more).toBe(1);
});

test("a folder is told by its last part", () => {
  expect([lastPart("/home/me/shop/"), lastPart("C:\\work\\shop"), lastPart("/")]).toEqual([
    "shop",
    "shop",
    "/",
  ]);
});

test("runs and tasks that failed or were stopped can be retried", () => {
  const run = (state: string): Row => ({ ...row("r", 1, state), source: "runs" });
  expect(["failed", "canceled", "succeeded", "running"].map(run).map(canRetry)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(canRetry(row("s", 1, "failed"))).toBe(false);
});

const spent = { requests: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 2 };
const usage = { ...spent, sub_agents: spent, turns: 0, milliseconds: 0 };
const run = {
  id: "run_1",
  job: "ship it",
  short_title: "x",
  cwd: "/work",
  input_start: "",
  usage,
  running: [],
  tags: [],
} as unknown as RunView;
const session = {
  id: "ses_1",
  title: "Talk",
  cwd: "/work",
  model: "m",
  items: [],
  waiting_calls: [],
  usage,
  spending: usage,
} as unknown as SessionView;
const hit = (change: Partial<Hit>): Hit => ({
  stream: "ses_2",
  of: "session",
  name: "Ask",
  session: "ses_2",
  seq: 7,
  at: 5,
  kind: "message.ended",
  snippet: { before: "a ", hit: "needle", after: "" },
  owner: {},
  ...change,
});

test("what was found is a row of what it was found in, and leads to the place", () => {
  const found = rowOfHit(hit({ owner: { session }, stream: "ses_1", session: "ses_1" }));
  expect(found).toMatchObject({ id: "ses_1", source: "sessions", name: "Talk", at: 5 });
  expect(found?.found).toEqual({ says: "Message", snippet: hit({}).snippet });
  expect(found?.href).toBe("/index.html?session=ses_1#seq=7");
  const inRun = rowOfHit(hit({ owner: { run } }));
  expect([inRun?.id, inRun?.name, inRun?.source]).toEqual(["run_1", "ship it: x", "runs"]);
  expect(inRun?.href).toBe("/index.html?session=ses_2#seq=7");
  const ofRun = hit({ of: "run", session: null, owner: { run } });
  const page = "/jobTracking.html?jobName=ship+it&jobId=run_1";
  expect(rowOfHit(ofRun)?.href).toBe(`${page}#event=run-7`);
  const ofTask = hit({ of: "task", session: null, owner: { run }, work: 2, execution: 3 });
  expect(rowOfHit(ofTask)?.href).toBe(`${page}#node=2&iteration=3&event=task-7`);
  expect(rowOfHit(hit({}))).toBeNull();
});

test("of many places in one thing three are shown until more are wanted", () => {
  const place = (key: string, id: string): Row => ({
    ...row(id, 1),
    key,
    found: { says: "", snippet: { before: "", hit: "", after: "" } },
  });
  const rows = [
    row("a", 1),
    ...["1", "2", "3", "4", "5"].map((n) => place(n, "a")),
    place("6", "b"),
  ];
  const shown = folded(rows, new Set());
  expect(shown.map((one) => [one.row.key, one.more])).toEqual([
    ["a", 0],
    ["1", 0],
    ["2", 0],
    ["3", 2],
    ["6", 0],
  ]);
  expect(folded(rows, new Set(["a"])).length).toBe(rows.length);
  expect(ids(things(rows))).toEqual(["a", "b"]);
});
