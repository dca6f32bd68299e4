import { expect, test } from "vitest";
import { NEW_SESSION, reduceSession } from "../../state/session";
import type { Recorded, SessionState } from "../../state/types";
import { asksOf, looksInWords, type Piece, piecesOf, rowsOf } from "./pieces";

const APPROVAL = {
  kind: "approval.asked",
  item: "itm_1",
  request: "r",
  call: "t1",
  wish: "shell",
  title: "Run ls?",
  description: "",
  severity: "high",
  subject: { arguments: "{}" },
  fingerprint: "f",
  choices: ["allow-once", "deny"],
};
const started = (block: string, name = "bash", given: object = { command: "ls" }) => ({
  kind: "tool.started",
  block,
  name,
  arguments: JSON.stringify(given),
});
const ended = (block: string, more: object = {}) => ({
  kind: "tool.ended",
  block,
  text: "x",
  ...more,
});
const said = (block: string) => ({ kind: "message.ended", block, text: "Words." });
const settled = { kind: "item.settled", item: "itm_1", outcome: "allow-once", who: "owner" };

function session(...events: object[]): SessionState {
  const recorded = events.map((event, place) => ({ seq: place + 1, at: place, event }));
  return reduceSession(NEW_SESSION, recorded as Recorded[], "ses_1");
}

const pieces = (state: SessionState): Piece[] => piecesOf(state, asksOf(state));
const kinds = (state: SessionState): string[] =>
  pieces(state).map((piece) =>
    piece.kind === "block"
      ? piece.block.kind
      : `${piece.kind} ${"calls" in piece ? piece.calls.length : ""}`,
  );

test("neighbouring calls share a box, and what is said ends it", () => {
  const state = session(
    started("a"),
    ended("a"),
    started("b"),
    ended("b"),
    said("m"),
    started("c"),
  );
  expect(kinds(state)).toEqual(["calls 2", "message", "calls 1"]);
});

test("what somebody is asked stands behind its call until it is decided, then in its row", () => {
  const before = session(started("t1"), APPROVAL);
  expect(kinds(before)).toEqual(["calls 1", "ask"]);
  const after = session(started("t1"), APPROVAL, settled, ended("t1"), started("b"), ended("b"));
  expect(kinds(after)).toEqual(["calls 2"]);
  const [box] = pieces(after);
  expect(box?.kind === "calls" && box.calls[0]?.ask?.settled?.who).toBe("owner");
});

test("a call that was cut off and made again has the decision", () => {
  const cut = ended("t1", { cut: true });
  const state = session(started("t1"), APPROVAL, cut, settled, started("t1"), ended("t1"));
  const [box] = pieces(state);
  const rows = box?.kind === "calls" ? box.calls : [];
  expect(rows.map(({ tool, ask }) => [tool.cut, ask !== null])).toEqual([
    [true, false],
    [false, true],
  ]);
});

test("what somebody was asked about nothing that is known stays by itself", () => {
  expect(kinds(session({ ...APPROVAL, call: "elsewhere" }, settled))).toEqual(["ask"]);
});

test("a to-do list is one piece of its turn", () => {
  const sql = (query: string) => ({ query });
  const insert = "INSERT INTO todos (id, title) VALUES ('a', 'One')";
  const state = session(
    started("s1", "sql", sql(insert)),
    ended("s1"),
    started("s2", "sql", sql("UPDATE todos SET status = 'done' WHERE id = 'a'")),
    ended("s2"),
  );
  expect(pieces(state)).toMatchObject([{ kind: "todo", todos: [{ title: "One", state: "done" }] }]);
});

test("three looks in a row share a line, and one that went wrong stands by itself", () => {
  const view = (block: string, path: string) => started(block, "view", { path });
  const state = session(
    ...["a", "b", "c"].flatMap((id) => [view(id, `/w/${id}`), ended(id)]),
    view("d", "/w/d"),
    ended("d", { error: { message: "no" } }),
  );
  const [box] = pieces(state);
  const rows = box?.kind === "calls" ? rowsOf(box.calls) : [];
  expect(rows.map(({ kind }) => kind)).toEqual(["looks", "one"]);
  const [looks] = rows;
  expect(looks?.kind === "looks" && looksInWords(looks.entries)).toBe("Read 3 files");
});

test("a box never becomes too large to be drawn", () => {
  const many = Array.from({ length: 90 }, (_, n) => [started(`t${n}`), ended(`t${n}`)]).flat();
  expect(kinds(session(...many))).toEqual(["calls 40", "calls 40", "calls 10"]);
});

test("the tries of a model that does not answer, and its end, are one card", () => {
  const asked = { kind: "turn.retrying", turn: "t", reason: "api error" };
  const error = { kind: "session.error", name: "query", message: "Last error: 529 Overloaded" };
  const failed = { kind: "turn.ended", turn: "t", outcome: "failed" };
  const opened = { kind: "session.opened", model: "m", cwd: "/w", policy: "ask", who: "o" };
  const state = session(opened, asked, asked, error, failed);
  expect(pieces(state)).toMatchObject([{ kind: "failure", worked: false, over: false }]);
  const again = session(opened, asked, asked, said("m"), asked, error, failed);
  expect(pieces(again)).toMatchObject([
    { kind: "failure", over: true },
    { kind: "block" },
    { kind: "failure", over: false },
  ]);
});
