import { expect, test } from "vitest";
import { canonical, runDigest, runPieces, sessionDigest, sessionPieces } from "./digest";
import { NEW_SESSION, reduceSession } from "./session";
import type { Recorded } from "./types";

test("what is empty is left out of an object, and keeps its place in a list", () => {
  const said = { b: 1.5, a: "", c: [null, 0, { x: undefined }], d: { e: false }, worked_ms: 7 };
  expect(canonical(said)).toBe('{"b":1500,"c":[null,0,{}]}');
  expect(canonical({ 'a"b': "ü\n", A: true })).toBe('{"A":true,"a\\"b":"ü\\n"}');
});

test("piece by piece a digest is the same as at once", () => {
  const run = { seq: 3, works: [{ path: "1", state: "running" }, { path: "2" }] } as never;
  const pieces = structuredClone(run);
  expect([...runPieces(pieces)]).toHaveLength(2);
  expect(runDigest(pieces)).toBe(runDigest(run));

  const events = [
    { seq: 1, at: 1, event: { kind: "prompt.accepted", prompt: "p", text: "Hi", who: "me" } },
    { seq: 2, at: 2, event: { kind: "turn.started", prompt: "p", turn: "t" } },
  ] as unknown as Recorded[];
  const [one, other] = [events, structuredClone(events)].map((all) =>
    reduceSession(NEW_SESSION, all, "ses_1"),
  ) as [typeof NEW_SESSION, typeof NEW_SESSION];
  expect([...sessionPieces(one)]).toHaveLength(one.blocks.size);
  expect(sessionDigest(one)).toBe(sessionDigest(other));
});
