import { expect, test } from "vitest";
import { changedWords } from "./changed-words";
import { filesOf } from "./unified";

const marked = (diff: string): string[] => {
  const lines = filesOf(diff)[0]?.lines ?? [];
  const ranges = changedWords(lines);
  return [...ranges].map(([place, { from, to }]) => lines[place]?.text.slice(from, to) ?? "");
};

test("what two lines do not have in common is marked, in whole words", () => {
  expect(
    marked("@@ -1 +1 @@\n-rows = await self.after(last)\n+rows = await self.after_each(last)\n"),
  ).toEqual(["after", "after_each"]);
});

test("lines are paired in order, and those without a partner have no mark", () => {
  const diff = "@@ -1,2 +1,3 @@\n-a = 1\n-b = 2\n+a = 3\n+b = 4\n+c = 5\n";
  expect(marked(diff)).toEqual(["1", "3", "2", "4"]);
});

test("lines that have nothing in common are changed as a whole", () => {
  expect(marked("@@ -1 +1 @@\n-    return x\n+    pass\n")).toEqual([]);
});

test("an emoji is never cut in half", () => {
  expect(marked("@@ -1 +1 @@\n-say 😀 now\n+say 😁 now\n")).toEqual(["😀", "😁"]);
});
