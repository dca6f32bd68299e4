import { describe, expect, it } from "vitest";
import { firstLine, took } from "./said";

describe("what a block says of itself", () => {
  it("sums up in the first line that says something", () => {
    expect(firstLine("\n---\n## The **cause**\nMore.")).toBe("The cause");
    expect(firstLine("a\u202eb")).toBe("a⟨U+202E⟩b");
  });

  it("says how long it took", () => {
    expect([200, 12_400, 72_000, 3_723_000].map(took)).toEqual([
      "0.2 s",
      "12 s",
      "1:12",
      "1:02:03",
    ]);
    expect([took(-5), took(40)]).toEqual(["0.0 s", "< 0.1 s"]);
  });
});
