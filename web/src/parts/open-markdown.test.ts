import { expect, test } from "vitest";
import { closedMarkdown } from "./open-markdown";
import { htmlOf } from "./prose";

test.each([
  ["a **strong", "a **strong**"],
  ["a **", "a "],
  ["a `code", "a `code`"],
  ["see [the page](http://x.y", "see the page"],
  ["see [the pa", "see the pa"],
  ["- one\n-", "- one"],
  ["A line\n-", "A line"],
  ["1. one\n2", "1. one"],
  ["```py\nx = 1", "```py\nx = 1\n```"],
  ["```py\nx = 1\n``", "```py\nx = 1\n```"],
  ["~~~\n```\n", "~~~\n```\n\n~~~"],
  ["```\na\n```\nall is said", "```\na\n```\nall is said"],
  ["2 * 3 is 6", "2 * 3 is 6"],
])("%j is made whole", (open, whole) => {
  expect(closedMarkdown(open)).toBe(whole);
});

const TEXT =
  "# The report\n\nIt is **done**, see `a.py` and [this](http://x.y):\n\n- one\n- two\n\n```python\nprint('three')\n```\n\nA line\nand another.\n";

test("a text that is complete is left as it is", () => {
  expect(htmlOf(closedMarkdown(TEXT), 3)).toBe(htmlOf(TEXT, 3));
});

test("a line never turns into a heading for a moment while a list begins below it", () => {
  const all = "One thing:\n- first\n- second\n";
  for (let end = 1; end <= all.length; end += 1) {
    expect(htmlOf(closedMarkdown(all.slice(0, end)), 3)).not.toContain("<h");
  }
});
