import { expect, test } from "vitest";
import { NEW_SESSION, reduceSession } from "./session";
import type { Event, Recorded, SessionState, ToolBlock } from "./types";

const opened = {
  kind: "session.opened",
  model: "m",
  cwd: "/w",
  policy: "ask",
  who: "mona",
  limits: {},
} as Event;
const prompt = { kind: "prompt.accepted", prompt: "pro_1", text: "Hi", who: "mona", redacted: 0 };
const started = { kind: "turn.started", turn: "trn_1", prompt: "pro_1" };

const story = (...events: object[]): Recorded[] =>
  [opened, ...events].map((event, place) => ({
    seq: place + 1,
    at: 1000 + place,
    event: event as Event,
  }));
const after = (...events: object[]): SessionState =>
  reduceSession(NEW_SESSION, story(...events), "ses_1");
const texts = (state: SessionState): string[] =>
  state.order.map((id) => {
    const block = state.blocks.get(id);
    return block?.kind === "tool" ? block.output : block && "text" in block ? block.text : "?";
  });

test("a request stands in the queue until the agent gets it, then in the conversation", () => {
  const queued = after(prompt);
  expect(queued.view?.queue).toHaveLength(1);
  expect(queued.order).toEqual([]);
  const got = after(prompt, started);
  expect(got.view).toMatchObject({ state: "working", queue: [], title: "Hi", seq: 3 });
  expect(got.blocks.get("pro_1")).toMatchObject({ kind: "user", title: null, text: "Hi" });
});

test("a request of a task and one that steers say so", () => {
  const ofTask = after({ ...prompt, task: "tsk_1" }, started);
  expect(ofTask.blocks.get("pro_1")).toMatchObject({ title: "Task" });
  const steered = after({ ...prompt, delivery: "steer" }, { ...started, kind: "prompt.steered" });
  expect(steered.blocks.get("pro_1")).toMatchObject({ title: "Steered" });
});

test("deltas add up by their offsets, in characters and not in units, and none counts twice", () => {
  const delta = (offset: number, text: string) => ({
    kind: "message.delta",
    block: "b",
    offset,
    text,
  });
  const begin = { kind: "message.started", block: "b" };
  const state = after(begin, delta(0, "a😀"), delta(2, "bc"), delta(0, "a😀b"), delta(1, "😀bcd"));
  expect(texts(state)).toEqual(["a😀bcd"]);
  expect(state.blocks.get("b")).toMatchObject({ received: 5, receiving: true });
});

test("a block's end has the last word on its text", () => {
  const state = after(
    { kind: "message.started", block: "b" },
    { kind: "message.delta", block: "b", offset: 0, text: "Hel" },
    { kind: "message.ended", block: "b", text: "Hello", cut: false },
    { kind: "message.delta", block: "b", offset: 5, text: " again" },
  );
  expect(state.blocks.get("b")).toMatchObject({ text: "Hello", receiving: false, received: 5 });
});

test("a tool that a tool called is inside it, and a veto is on its block", () => {
  const tool = (block: string, parent?: string) => ({
    kind: "tool.started",
    block,
    parent,
    name: "bash",
    arguments: "{}",
  });
  const veto = { kind: "tool.vetoed", tool: "bash", block: "t2", reason: "No.", denied: "policy" };
  const state = after(tool("t1"), tool("t2", "t1"), veto);
  expect(state.order).toEqual(["t1"]);
  expect((state.blocks.get("t1") as ToolBlock).children).toEqual(["t2"]);
  expect(state.blocks.get("t2")).toMatchObject({ parent: "t1", vetoed: "No." });
});

test("a name that a provider uses again is another block", () => {
  const begin = { kind: "message.started", block: "b" };
  const end = (text: string) => ({ kind: "message.ended", block: "b", text, cut: false });
  const state = after(begin, end("one"), begin, end("two"));
  expect(texts(state)).toEqual(["one", "two"]);
});

test("a page that has only the tail shows what it has", () => {
  const tail = story(prompt, { kind: "message.delta", block: "b", offset: 9, text: "end" }).slice(
    2,
  );
  const state = reduceSession(NEW_SESSION, tail, "ses_1");
  expect(state.view).toBeNull();
  expect(texts(state)).toEqual(["end"]);
});

test("whichever way a stream is cut into batches, the state is the same and none is changed later", () => {
  const events = story(
    prompt,
    started,
    { kind: "message.started", block: "b" },
    { kind: "message.delta", block: "b", offset: 0, text: "Hel" },
    { kind: "message.delta", block: "b", offset: 3, text: "lo" },
    { kind: "message.ended", block: "b", text: "Hello", cut: false },
    { kind: "turn.ended", turn: "trn_1", outcome: "aborted", models: ["m"], usage: undefined },
  );
  const whole = reduceSession(NEW_SESSION, events, "ses_1");
  let state = NEW_SESSION;
  const seen: [SessionState, string][] = [];
  const told = (one: SessionState) => JSON.stringify([one, [...one.blocks]]);
  for (const event of events) {
    state = reduceSession(state, [event, event], "ses_1");
    seen.push([state, told(state)]);
  }
  expect(state).toEqual(whole);
  for (const [one, as] of seen) expect(told(one)).toBe(as);
});

test("a hundred thousand events are folded in one go", () => {
  const events = story(
    ...Array.from({ length: 10_000 }, (_, turn) => [
      { kind: "message.started", block: `b${turn}` },
      ...Array.from({ length: 8 }, (_, place) => ({
        kind: "message.delta",
        block: `b${turn}`,
        offset: place * 5,
        text: "hello",
      })),
      { kind: "message.ended", block: `b${turn}`, text: "hello".repeat(8), cut: false },
    ]).flat(),
  );
  const began = performance.now();
  const state = reduceSession(NEW_SESSION, events, "ses_1");
  expect(performance.now() - began).toBeLessThan(3_000);
  expect(state.order).toHaveLength(10_000);
});
