import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Asked, type Terms, watchAnswer } from "./asked";

/** The network between the page and a server: what is asked waits until the test answers it. */
type Open = { answer: (response: Response) => void; cut: () => void };

let open: Open[];
let tell: (event: string, data: unknown) => void;
let asked: Asked<{ value: number }>;

beforeEach(() => {
  vi.useFakeTimers();
  open = [];
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    if (path.startsWith("/api/v1/feed")) return Promise.resolve(feed(signal));
    return new Promise<Response>((answer, cut) => {
      open.push({ answer, cut: () => cut(new TypeError("Failed to fetch")) });
    });
  });
});

afterEach(() => {
  asked.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function feed(signal?: AbortSignal | null): Response {
  const written = new ReadableStream<Uint8Array>({
    start: (controller) => {
      signal?.addEventListener("abort", () => controller.error(signal.reason));
      tell = (event, data) => {
        const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
        controller.enqueue(new TextEncoder().encode(text));
      };
    },
  });
  return new Response(written);
}

/** What is said on a stream takes a few turns of the loop until it is heard. */
async function soon(ms = 0): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(ms);
}

async function watched(terms?: Terms): Promise<void> {
  asked = watchAnswer("/api/v1/things", terms);
  await soon();
  expect(open).toHaveLength(1);
}

async function answers(value: number, lists: number): Promise<void> {
  const headers = { "X-Airboss-Lists": String(lists) };
  open.shift()?.answer(new Response(JSON.stringify({ value }), { headers }));
  await soon();
}

test("what is as new as a connection is not asked for again", async () => {
  await watched();
  tell("caught-up", { lists: 7 });
  await soon();
  await answers(1, 7);
  await soon(20_000);
  expect(open).toEqual([]);
  expect(asked.state.value).toEqual({ value: 1 });
});

test("a change that comes while it is asked for is asked for behind that, once", async () => {
  await watched();
  tell("changed", { streams: ["ses_1"] });
  tell("changed", { streams: ["ses_2"] });
  await soon();
  await answers(1, 7);
  await soon(1_000);
  expect(open).toHaveLength(1);
  await answers(2, 9);
  await soon(20_000);
  expect(open).toEqual([]);
  expect(asked.state.value).toEqual({ value: 2 });
});

test("only what it heeds is asked for", async () => {
  await watched({ heeds: (names) => names.includes("settings") });
  await answers(1, 7);
  tell("changed", { streams: ["ses_1"] });
  await soon(20_000);
  expect(open).toEqual([]);
  tell("changed", { streams: ["ses_1", "settings"] });
  await soon(1_000);
  expect(open).toHaveLength(1);
});

test("a first answer that was lost is said, and asked for until it is there", async () => {
  await watched();
  open.shift()?.cut();
  await soon();
  expect(asked.trouble.value).toContain("not responding");
  await soon(3_000);
  await answers(1, 7);
  expect(asked.trouble.value).toBeNull();
  expect(asked.state.value).toEqual({ value: 1 });
});

test("of a later one what was told stays, without a word, and it is asked for too", async () => {
  await watched();
  await answers(1, 7);
  tell("changed", { streams: ["ses_1"] });
  await soon(1_000);
  open.shift()?.answer(new Response("{}", { status: 503 }));
  await soon();
  expect([asked.state.value, asked.trouble.value]).toEqual([{ value: 1 }, null]);
  await soon(3_000);
  await answers(2, 9);
  expect(asked.state.value).toEqual({ value: 2 });
});

test("a no is told and not asked again until something changes", async () => {
  await watched();
  const detail = "There is no such thing.";
  open.shift()?.answer(new Response(JSON.stringify({ detail }), { status: 404 }));
  await soon(20_000);
  expect(asked.trouble.value).toBe(detail);
  expect(open).toEqual([]);
});

test("who changed something waits for an answer that was asked for behind that", async () => {
  await watched();
  let isDone = false;
  const doing = asked.again().then(() => {
    isDone = true;
  });
  await answers(1, 7);
  expect(isDone).toBe(false);
  await answers(2, 8);
  await doing;
  expect(asked.state.value).toEqual({ value: 2 });
});
