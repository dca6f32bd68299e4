import { describe, expect, it } from "vitest";
import { filesOf } from "../parts/unified";
import { diffOf } from "./lines";

const text = (...lines: (string | number)[]) => `${lines.join("\n")}\n`;
const many = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

/** The diff applied again: what was before, and what came of it. */
function sides(diff: string) {
  const lines = filesOf(diff).flatMap((file) => file.lines);
  return {
    before: lines.filter(({ kind }) => kind === "same" || kind === "removed"),
    after: lines.filter(({ kind }) => kind === "same" || kind === "added"),
  };
}

describe("the difference of two texts", () => {
  it("is nothing where they are the same", () => {
    expect(diffOf(text("a", "b"), text("a", "b"))).toBe("");
  });

  it("has the changed lines and those around them", () => {
    const diff = diffOf(text(...many(1, 20)), text(...many(1, 9), "mine", ...many(11, 20)));
    const [file] = filesOf(diff);
    expect([file?.added, file?.removed]).toEqual([1, 1]);
    const { before, after } = sides(diff);
    expect(before[0]).toMatchObject({ before: 7, text: "line 7" });
    expect(after.map((line) => line.text)).toContain("mine");
    expect(before).toHaveLength(7);
  });

  it("numbers the lines of a second place right", () => {
    const old = many(1, 40);
    const now = old.map((line, at) => (at === 4 || at === 34 ? `${line} changed` : line));
    const added = sides(diffOf(text(...old), text("new", ...now))).after;
    expect(added.find((line) => line.text === "line 35 changed")?.after).toBe(36);
  });

  it("is all of it where there was nothing", () => {
    expect(sides(diffOf("", text("a", "b"))).after).toHaveLength(2);
    expect(sides(diffOf(text("a", "b"), "")).before).toHaveLength(2);
  });
});
