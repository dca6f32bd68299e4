import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inSlices } from "./compare";
import { type Watched, watch } from "./watched";

let compared: string[];
let feeds: ReadableStreamDefaultController<Uint8Array>[];
let watched: Watched<number>;

beforeEach(() => {
  vi.useFakeTimers();
  [compared, feeds] = [[], []];
  vi.stubGlobal("fetch", async (path: string, { signal }: RequestInit) => {
    if (path.includes("/digest")) {
      compared.push(path);
      return new Response('{"same":true}');
    }
    const start = (feed: ReadableStreamDefaultController<Uint8Array>) => {
      signal?.addEventListener("abort", () => feed.error(signal.reason));
      feeds.push(feed);
    };
    return new Response(new ReadableStream({ start }));
  });
});

afterEach(() => {
  watched.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function soon(ms = 0): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(ms);
}

function tell(said: string): void {
  feeds.at(-1)?.enqueue(new TextEncoder().encode(said));
}

const EVENT = `data: ${JSON.stringify({ stream: "run_1", seq: 6, at: 1, event: { kind: "x" } })}\n\n`;
const CAUGHT_UP = 'event: caught-up\ndata: {"lists":1}\n\n';

function begin(isAnswer: boolean): void {
  watched = watch<number>({
    stream: "run_1",
    empty: 0,
    isAnswer,
    load: async () => ({ kind: "ok", body: { state: 5, after: 5 } }),
    reduce: (state, events) => state + events.length,
    digest: (state) => ({ seq: state, digest: "d" }),
  });
}

test("what the server answered is compared when something was made of it", async () => {
  begin(true);
  await soon();
  tell(CAUGHT_UP);
  await soon(5_000);
  expect([watched.state.value, compared]).toEqual([5, []]);
  tell(EVENT);
  await soon(100);
  feeds.at(-1)?.close(); // and the next connection tells that nothing was missed
  await soon(2_000);
  tell(CAUGHT_UP);
  await soon(5_000);
  expect([watched.state.value, compared]).toEqual([6, ["/api/v1/runs/run_1/digest?seq=6&have=d"]]);
});

test("what was worked out of events is compared as soon as it is loaded", async () => {
  begin(false);
  await soon();
  tell(CAUGHT_UP);
  await soon(5_000);
  expect(compared).toEqual(["/api/v1/runs/run_1/digest?seq=5&have=d"]);
});

test("a long piece of work lets the page go on in between", async () => {
  begin(false);
  vi.useRealTimers();
  let others = 0;
  const timer = setInterval(() => {
    others += 1;
  });
  const busy = function* (): Iterable<void> {
    for (let piece = 0; piece < 30; piece += 1) {
      const until = performance.now() + 2;
      while (performance.now() < until);
      yield;
    }
  };
  await inSlices(busy());
  clearInterval(timer);
  expect(others).toBeGreaterThan(2);
});
