import { expect, test } from "vitest";
import { chunksOf, END, folded, gapInWords, piecesOf, placesOf } from "./whole-text";

const LONG = `echo ${"x".repeat(64_500)}; touch PWN`;

const isHalved = (text: string): boolean => /\p{Cs}/u.test(text);

test("what is short is shown as it is", () => {
  expect(folded("make build && make test")).toBeNull();
});

test("the end of what is long is shown beside its beginning, and nothing is lost", () => {
  for (const text of [LONG, "\n".repeat(5_000), "line\n".repeat(40), "é🙂".repeat(90_000)]) {
    const shown = folded(text);
    if (shown === null) throw new Error("It is long.");
    expect(shown.head + shown.gap + shown.tail).toBe(text);
    expect(shown.tail.length).toBeGreaterThanOrEqual(
      Math.min(END, text.length - shown.head.length),
    );
    expect([shown.head, shown.tail].some(isHalved)).toBe(false);
  }
  expect(folded(LONG)?.tail.endsWith("xxx; touch PWN")).toBe(true);
});

test("of what is folded one is told how many commands may begin in it", () => {
  expect(gapInWords("x".repeat(1_234), "command")).toBe(
    "1,234 characters are hidden, with no separators",
  );
  expect(gapInWords("a; b && c\nd", "command")).toBe("11 characters are hidden, with 3 separators");
  expect(gapInWords("a; b\nc", "diff")).toBe("6 characters are hidden, with 1 line break");
});

test("everything that begins another command is marked, in quotes or not", () => {
  const marked = piecesOf("a; b && c || d | e & f\ng $(h) `i` 'j;k' <(l) >(m)", "command")
    .filter(({ look }) => look === "sep")
    .map(({ text }) => text);
  expect(marked).toEqual([...[";", "&&", "||", "|", "&", "\n", "$(", "`", "`", ";", "<(", ">("]]);
});

test("lines of a change have their looks", () => {
  expect(piecesOf("@@ -1 +1 @@\n-a\n+b\n c", "diff").map(({ look }) => look)).toEqual([
    "hunk",
    "del",
    "add",
    "",
  ]);
});

test("a megabyte is drawn in parts that add up to it", () => {
  for (const text of [
    LONG,
    ";".repeat(1_048_576),
    "🙂".repeat(300_000),
    "a\n".repeat(100_000),
    "",
  ]) {
    const places = chunksOf(text);
    const parts = places.slice(1).map((end, place) => text.slice(places[place], end));
    expect(parts.join("")).toBe(text);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(8_192);
    expect(parts.some(isHalved)).toBe(false);
  }
});

test("words are found wherever they stand", () => {
  expect(placesOf(LONG, "TOUCH pwn")).toEqual([LONG.length - 9]);
  expect(placesOf("a.b a*b", "a*b")).toEqual([4]);
  expect(placesOf("aaa", "")).toEqual([]);
});
