import { expect, test } from "vitest";
import { looksLikeMarkdown } from "./markdown_hint";

test.each([
  "# A title\n\nwords",
  "Steps:\n\n1. one\n2. two",
  "- one\n- two",
  "```python\nprint()\n```",
  "Use `make test` first.",
  "This is **important**.",
  "See [the page](https://example.org).",
  "> said before",
  "| a | b |\n|---|---|\n| 1 | 2 |",
])("%j is meant as markdown", (text) => {
  expect(looksLikeMarkdown(text)).toBe(true);
});

test.each([
  "Hello, captain.",
  "Two lines,\nand no sign of more.",
  "a * b * c, and x - y",
  "price #3 is 2.5",
  "snake_case_name and another_name",
  "",
])("%j is plain text", (text) => {
  expect(looksLikeMarkdown(text)).toBe(false);
});

test("a long text without a sign is looked at no longer than a short one", () => {
  const before = performance.now();
  expect(looksLikeMarkdown("[(*".repeat(500_000))).toBe(false);
  expect(performance.now() - before).toBeLessThan(1_000);
});
