import { expect, test } from "vitest";
import { filesOf } from "./unified";

const DIFF = `diff --git a/src/follow.py b/src/follow.py
index 0a1b2c3..4d5e6f7 100644
--- a/src/follow.py
+++ b/src/follow.py
@@ -61,3 +61,4 @@ async def follow
     async def follow(self, streams):
-        last = await self.store.max_seq()
+        last = {s: 0 for s in streams}
+        rows = []
         while True:
`;

test("lines have their numbers on both sides", () => {
  const [file] = filesOf(DIFF);
  expect(file).toMatchObject({ path: "src/follow.py", added: 2, removed: 1 });
  expect(file?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ["head", null, null],
    ["same", 61, 61],
    ["removed", 62, null],
    ["added", null, 62],
    ["added", null, 63],
    ["same", 63, 64],
  ]);
});

test("a line that only looks like a file's head belongs to its hunk", () => {
  const [file, ...others] = filesOf("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- old\n-++ more\n+new\n");
  expect(others).toEqual([]);
  expect(file?.lines.map(({ text }) => text)).toEqual([
    "@@ -1,2 +1 @@",
    "-- old",
    "++ more",
    "new",
  ]);
});

test("several files, new ones and deleted ones are told apart", () => {
  const made = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n";
  const gone = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
  expect(filesOf(made + gone).map(({ path, added, removed }) => [path, added, removed])).toEqual([
    ["new.txt", 1, 0],
    ["old.txt", 0, 1],
  ]);
});

test("what is no diff is still shown, line by line", () => {
  expect(filesOf("+added\n-removed").flatMap(({ lines }) => lines.map(({ text }) => text))).toEqual(
    ["added", "removed"],
  );
});

test("a file that moves is named by both its names, and its mode is shown", () => {
  const moved =
    "diff --git a/old.txt b/new.sh\nold mode 100644\nnew mode 100755\nrename from old.txt\n" +
    "--- a/old.txt\n+++ b/new.sh\n@@ -1 +1 @@\n-a\n+b\n";
  const [file, ...others] = filesOf(moved);
  expect(others).toEqual([]);
  expect(file?.path).toBe("old.txt → new.sh");
  expect(file?.lines.map(({ text }) => text)).toEqual([
    "old mode 100644",
    "new mode 100755",
    "rename from old.txt",
    "@@ -1 +1 @@",
    "a",
    "b",
  ]);
  expect(filesOf("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n")[0]?.lines).toHaveLength(
    2,
  );
  expect(filesOf("--- a/x\n+++ b/dev/null\n@@ -1 +0,0 @@\n-a\n")[0]?.path).toBe("x");
});

test("a line end that only some lines have is part of the change", () => {
  const texts = (diff: string) => filesOf(diff)[0]?.lines.map(({ text }) => text);
  expect(texts("+a\r\n+b\n")).toEqual(["a\r", "b"]);
  expect(texts("+a\r\n+b\r\n")).toEqual(["a", "b"]);
});

test("an edit whose place nobody knows has no numbers", () => {
  const [file] = filesOf("--- a/x\n+++ b/x\n@@ … @@\n-old\n+new\n@@ -4 +4 @@\n-a\n+b\n");
  expect(file?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ["head", null, null],
    ["removed", null, null],
    ["added", null, null],
    ["head", null, null],
    ["removed", 4, null],
    ["added", null, 4],
  ]);
});

test("what the runtime says of a file that it made belongs to that file", () => {
  const diff =
    "\ndiff --git a/w/b.py b/w/b.py\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/w/b.py\n@@ -1,0 +1,1 @@\n+x\n";
  expect(filesOf(diff).map(({ path, added }) => [path, added])).toEqual([["w/b.py", 1]]);
});
