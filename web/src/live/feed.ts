/** The page's one live feed: all streams that it follows, over one connection, resumed for ever. */

import { computed, signal } from "@preact/signals";
import { judged } from "../api/access";
import { ahead } from "../api/clock";
import { askWhetherIn } from "../signin";
import type { Recorded } from "../state/types";
import { reloadIfOld } from "./build";
import { type Ended, type Heard, listen } from "./connection";
import { BEHIND_MS, freshness, knownUntil, type Line } from "./freshness";
import { readBehind } from "./pages";

export type Follower = {
  /** Events of the stream in order, none twice, at most twenty times a second. */
  hear: (events: Recorded[]) => void;
  /** The connection came back and has told all: what the page shows can be compared. */
  caughtUp: () => void;
  /** There is no such stream (any more). */
  gone?: () => void;
};

type Followed = Follower & { after: number; over: boolean; waiting: Recorded[] };

/** Twenty times a second is as often as a page is painted. */
const PAINT_MS = 50;
const AGAIN_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
/** Silent so often in a row, the way to the server holds streams back: pages come through. */
const SILENT_TIMES = 2;
const POLL_MS = 2_000;
/** A hidden page gives its connection back: a browser has six for all pages of a server. */
const HIDDEN_MS = 30_000;
/** What its title counts is asked for now and then. */
const POLL_HIDDEN_MS = 20_000;
const TICK_MS = 1_000;
/** A clock that jumps so far slept in between, or was put right. */
const SLEPT_MS = 10_000;

const followed = new Map<string, Followed>();
/** Told which streams changed; none of them means any. With `lists`, whoever is as new as that missed nothing. */
type Listener = (streams: readonly string[], lists?: number) => void;

const listeners = new Set<Listener>();
const line = signal<Line>({
  open: false,
  caughtUp: false,
  heardAt: null,
  behindAt: null,
  brokenAt: null,
  againAt: null,
});
/** This machine's time, by which the line is judged; and the server's, by which it tells all times. */
const here = signal(Date.now());
export const now = computed(() => here.value + ahead.value);
export const fresh = computed(() => freshness(line.value, here.value));
/** The time for whatever counts up while it goes on. */
export const known = computed(() => knownUntil(line.value, here.value) + ahead.value);

let stopped = new AbortController();
let failures = 0;
let silences = 0;
let painting = false;
let reopening = false;
let hiddenAt: number | null = null;
/** Whether something may have been missed since everything was last told. */
let doubted = true;
let running = false;
let wake: (() => void) | null = null;

const tell = (change: Partial<Line>) => {
  line.value = { ...line.value, ...change };
};

/** Follows a stream behind `after`. What it answers ends that. */
export function follow(stream: string, after: number, follower: Follower): () => void {
  const mine: Followed = { ...follower, after, over: false, waiting: [] };
  followed.set(stream, mine);
  reopen();
  return () => {
    if (followed.get(stream) !== mine) return;
    followed.delete(stream);
    reopen();
  };
}

/** Told whenever sessions, runs or task runs changed, and after each connection (with none). */
export function onChange(hear: Listener): () => void {
  listeners.add(hear);
  reopen();
  return () => listeners.delete(hear);
}

/** Now, whatever was planned; and then all is compared. */
export function tryNow(): void {
  doubted = true;
  comeBack();
}

function comeBack(): void {
  failures = 0;
  stopped.abort();
  wake?.();
}

/** Several changes of what is followed, made together, cost one connection. */
function reopen(): void {
  if (reopening) return;
  reopening = true;
  queueMicrotask(() => {
    reopening = false;
    if (running) comeBack();
    else void run();
  });
}

async function run(): Promise<void> {
  running = true;
  while (followed.size > 0 || listeners.size > 0) {
    if (hiddenAt !== null && Date.now() - hiddenAt > HIDDEN_MS) {
      tell({ open: false });
      await pause(POLL_HIDDEN_MS);
      for (const listener of listeners) listener([]);
      continue;
    }
    stopped = new AbortController();
    const ended = silences >= SILENT_TIMES ? await poll() : await connect();
    if (ended === "left") continue;
    const wait = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)] ?? 0;
    failures += 1;
    doubted = true;
    const broken = line.value.brokenAt ?? Date.now();
    tell({ open: false, caughtUp: false, brokenAt: broken, againAt: Date.now() + wait });
    await pause(wait);
  }
  running = false;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      wake = null;
      resolve();
    };
    const timer = setTimeout(done, ms);
    wake = done;
  });
}

async function connect(): Promise<Ended> {
  const wanted = new URLSearchParams({ lists: "true" });
  for (const [stream, { after, over }] of followed) {
    if (!over) wanted.append("follow", `${stream}:${after}`);
  }
  const ended = await listen(`/api/v1/feed?${wanted}`, { opened, hear }, stopped.signal);
  if (ended === "refused") {
    judged(401);
    void askWhetherIn(); // which says why
  }
  silences = ended === "silent" ? silences + 1 : 0;
  return ended;
}

function opened(): void {
  judged(200);
  tell({ open: true, caughtUp: !doubted, heardAt: Date.now(), againAt: null });
}

/** Pages instead of a stream: slower, and just as true. */
async function poll(): Promise<Ended> {
  while (!stopped.signal.aborted) {
    for (const [stream, mine] of followed) {
      const events = await readBehind(stream, mine.after);
      if (events === null) return "broken";
      heardOf(events.map((said) => ({ kind: "event", said: { ...said, stream } })));
    }
    opened();
    heardOf([{ kind: "changed", streams: [] }, { kind: "caught-up" }]);
    await pause(POLL_MS);
  }
  return "left";
}

function hear(all: Heard[]): void {
  if (!stopped.signal.aborted) heardOf(all);
}

function heardOf(all: Heard[]): void {
  failures = 0;
  if (Date.now() - (line.value.heardAt ?? 0) > 500 || line.value.brokenAt !== null) {
    tell({ heardAt: Date.now(), brokenAt: null });
  }
  for (const heard of all) take(heard);
}

function take(heard: Heard): void {
  switch (heard.kind) {
    case "event": {
      const mine = followed.get(heard.said.stream);
      if (mine === undefined || heard.said.seq <= mine.after) break;
      mine.after = heard.said.seq;
      mine.waiting.push(heard.said);
      paintSoon();
      break;
    }
    case "caught-up":
      tell({ caughtUp: true, behindAt: null });
      paint();
      settleDoubt(heard.lists);
      break;
    case "end":
      over(heard.stream, true);
      break;
    case "gone":
      followed.get(heard.stream)?.gone?.();
      break;
    case "changed":
      for (const stream of heard.streams) goOn(stream);
      for (const listener of listeners) listener(heard.streams);
      break;
    case "build":
      reloadIfOld(heard.build);
      break;
    case "heartbeat":
      heardOfDatabase(heard.databaseMs ?? 0);
      break;
  }
}

/** What the page shows is as old as what the server knows. */
function heardOfDatabase(ago: number): void {
  const behindAt = ago >= BEHIND_MS ? Date.now() - ago : null;
  if (behindAt !== null || line.value.behindAt !== null) tell({ behindAt });
}

/** A connection that is replaced leaves a moment in which nobody listens, so lists are told after each. */
function settleDoubt(lists: number | undefined): void {
  for (const listener of listeners) listener([], lists);
  if (!doubted) return;
  doubted = false;
  for (const mine of followed.values()) mine.caughtUp();
}

/** What was over and goes on (a run that is retried) is followed again. */
function goOn(stream: string): void {
  if (!followed.get(stream)?.over) return;
  over(stream, false);
  reopen();
}

function over(stream: string, is: boolean): void {
  const mine = followed.get(stream);
  if (mine !== undefined) mine.over = is;
}

function paintSoon(): void {
  if (painting) return;
  painting = true;
  setTimeout(paint, PAINT_MS);
}

function paint(): void {
  painting = false;
  for (const mine of followed.values()) {
    if (mine.waiting.length > 0) mine.hear(mine.waiting.splice(0));
  }
}

/** Looks after the page: its clock, its sleep, its network. Once, when it is loaded. */
export function stayAwake(): void {
  setInterval(() => {
    const slept = Math.abs(Date.now() - here.value) > SLEPT_MS;
    here.value = Date.now();
    if (slept) awake();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    hiddenAt = document.hidden ? Date.now() : null;
    here.value = Date.now();
    if (!document.hidden && !line.value.open) tryNow();
    if (document.hidden) setTimeout(restWhenHidden, HIDDEN_MS + TICK_MS);
  });
  addEventListener("online", tryNow);
  addEventListener("pageshow", (event) => event.persisted && tryNow());
  // At once, instead of after a silence: what is cut off will say nothing more.
  addEventListener("offline", tryNow);
}

/** Or the clock was put back: then what was heard was not heard later than now. */
function awake(): void {
  const { heardAt } = line.value;
  if (heardAt !== null && heardAt > here.value) tell({ heardAt: here.value });
  tryNow();
}

function restWhenHidden(): void {
  if (hiddenAt !== null) tryNow();
}
