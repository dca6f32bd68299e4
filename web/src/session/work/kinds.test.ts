import { expect, test } from "vitest";
import type { ToolBlock } from "../../state/types";
import { callOf } from "./kinds";

const tool = (name: string, given: unknown, more: Partial<ToolBlock> = {}): ToolBlock => ({
  kind: "tool",
  id: "t1",
  seq: 1,
  at: 0,
  name,
  arguments: JSON.stringify(given),
  output: "",
  received: 0,
  result: null,
  detail: null,
  error: null,
  vetoed: null,
  permission: null,
  receiving: false,
  cut: false,
  left_out: null,
  ended_at: 5,
  parent: null,
  children: [],
  agent: null,
  ...more,
});

test("a command has its output without the runtime's mark, and its exit code", () => {
  const output = "\u001b[31mhi\u001b[0m\n2\n<shellId: 0 completed with exit code 3>";
  expect(callOf(tool("bash", { command: "ls", description: "x" }, { output }))).toEqual({
    kind: "shell",
    command: "ls",
    output: "hi\n2",
    exit: 3,
  });
  expect(callOf(tool("bash", { command: "ls" }, { output: "going on" }))).toMatchObject({
    exit: null,
    output: "going on",
  });
});

test("a command whose output is too long for the model has its exit code all the same", () => {
  const detail =
    "Output too large to read at once.\n1\n2\n\n<shellId: 1 completed with exit code 1>";
  const long = tool("bash", { command: "make test" }, { output: "1\n2\n3\n", detail });
  expect(callOf(long)).toMatchObject({ exit: 1, output: "1\n2\n3\n" });
});

test("a search has its hits with their lines, or the files alone", () => {
  const lines = tool(
    "grep",
    { pattern: "def", output_mode: "content", "-n": true },
    { output: "/w/a.py:1:def one():\n--\n/w/a.py:4:def f(): # a:9:b" },
  );
  expect(callOf(lines)).toMatchObject({
    hits: [
      { path: "/w/a.py", line: 1, text: "def one():" },
      { path: "/w/a.py", line: 4, text: "def f(): # a:9:b" },
    ],
  });
  const files = callOf(tool("glob", { pattern: "**" }, { output: "./a.py\n./b/c.py" }));
  expect(files).toMatchObject({ isNames: true, hits: [{ path: "a.py" }, { path: "b/c.py" }] });
  expect(callOf(tool("grep", { pattern: "x" }, { output: "No matches found." }))).toMatchObject({
    hits: [],
  });
});

test("a file that was read has its lines; a folder is told apart", () => {
  const part = tool("view", { path: "/w/a.py", view_range: [2, 4] }, { output: "a\n\nb" });
  expect(callOf(part)).toMatchObject({ kind: "read", from: 2, to: 4, isFolder: false });
  const folder = tool("view", { path: "/w" }, { output: "a", detail: "--- a/dev/null\n+++ b/w\n" });
  expect(callOf(folder)).toMatchObject({ isFolder: true });
});

test("an edit is the diff that its tool said, or the one of its words", () => {
  const detail = "--- a/w/a.py\n+++ b/w/a.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n";
  expect(callOf(tool("edit", { path: "/w/a.py" }, { detail }))).toMatchObject({
    verb: "Edited",
    files: [{ path: "/w/a.py", added: 2, removed: 1 }],
    diff: detail,
  });
  const words = { path: "/w/a.py", old_str: "a", new_str: "b\nc\n" };
  expect(callOf(tool("edit", words, { receiving: true }))).toMatchObject({
    verb: "Edit",
    files: [{ path: "/w/a.py", added: 2, removed: 1 }],
    diff: "@@ … @@\n-a\n+b\n+c\n",
  });
});

test("what cannot be read is something else, with all that was given", () => {
  expect(callOf(tool("tracker-get_issue", { number: 412, more: { a: 1 } }))).toEqual({
    kind: "other",
    given: [
      ["number", "412"],
      ["more", '{\n "a": 1\n}'],
    ],
  });
  expect(callOf({ ...tool("bash", {}), arguments: "{cut" })).toEqual({
    kind: "other",
    given: [["arguments", "{cut"]],
  });
});
