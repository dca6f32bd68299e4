import { expect, test } from "vitest";
import { read } from "./connection";

test("an event comes without a name, all else with one", () => {
  const said = { stream: "ses_1", seq: 3, at: 5, event: { kind: "session.idle" } };
  expect(read({ event: undefined, data: JSON.stringify(said) })).toEqual([{ kind: "event", said }]);
  expect(read({ event: "end", data: '{"stream":"run_1","seq":9}' })).toEqual([
    { kind: "end", stream: "run_1" },
  ]);
  expect(read({ event: "changed", data: '{"streams":["run_1"]}' })).toEqual([
    { kind: "changed", streams: ["run_1"] },
  ]);
  expect(read({ event: "heartbeat", data: "{}" })).toEqual([{ kind: "heartbeat" }]);
  expect(read({ event: "heartbeat", data: '{"database_ms":4100}' })).toEqual([
    { kind: "heartbeat", databaseMs: 4100 },
  ]);
  expect(read({ event: "caught-up", data: '{"streams":{},"lists":7}' })).toEqual([
    { kind: "caught-up", lists: 7 },
  ]);
  expect(read({ event: "caught-up", data: '{"streams":{}}' })).toEqual([{ kind: "caught-up" }]);
  expect(read({ event: "build", data: '{"build":"a1"}' })).toEqual([
    { kind: "build", build: "a1" },
  ]);
});

test("half a message and the words of a newer server are passed over", () => {
  expect(read({ event: undefined, data: '{"stream":"ses_1","se' })).toEqual([]);
  expect(read({ event: "weather", data: "{}" })).toEqual([]);
});
