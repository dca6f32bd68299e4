import { expect, test } from "vitest";
import { languageOf, linesOf } from "./coloured";
import { colours } from "./highlight";

const CODE = 'def f(a):\n    """Two\n    lines <b>"""\n    return a < 1 and "&amp;"\n';

test("the runs of all lines add up to the code, letter by letter", () => {
  const lines = linesOf(colours(CODE, "python") ?? "");
  expect(lines.map((runs) => runs.map(({ text }) => text).join("")).join("\n")).toBe(CODE);
});

test("a colour that goes over several lines is on each of them", () => {
  const lines = linesOf(colours(CODE, "python") ?? "");
  expect(lines[1]?.at(-1)?.look).toBe("hljs-string");
  expect(lines[2]?.[0]?.look).toBe("hljs-string");
});

test("the language is the one of the file's name", () => {
  expect(["a/b.py", "x.TSX", "Dockerfile", "notes", "a.b/c"].map(languageOf)).toEqual([
    "python",
    "typescript",
    "dockerfile",
    null,
    null,
  ]);
});
