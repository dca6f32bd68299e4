import { describe, expect, it } from "vitest";
import type { ToolBlock } from "../state/types";
import { argumentsToRead, firstLine, heading, took, toolSummary } from "./said";

const tool = (more: Partial<ToolBlock>): ToolBlock => ({
  kind: "tool",
  id: "t1",
  seq: 1,
  at: 0,
  name: "bash",
  arguments: "{}",
  output: "",
  received: 0,
  result: null,
  detail: null,
  error: null,
  vetoed: null,
  receiving: false,
  cut: false,
  left_out: null,
  ended_at: null,
  parent: null,
  children: [],
  ...more,
});

describe("what a block says of itself", () => {
  it("names a tool in the heading", () => {
    expect(heading(tool({ name: "grep" }))).toEqual({ type: "Tool", title: "grep" });
  });

  it("sums up in the first line that says something", () => {
    expect(firstLine("\n---\n## The **cause**\nMore.")).toBe("The cause");
    expect(firstLine("a\u202eb")).toBe("a⟨U+202E⟩b");
  });

  it("sums up a tool by the argument that tells most, and by what went wrong", () => {
    expect(toolSummary(tool({ arguments: '{"description":"x","command":"ls -l"}' }))).toBe("ls -l");
    expect(toolSummary(tool({ arguments: "not json", error: "no" }))).toBe("not json · error: no");
    expect(toolSummary(tool({ children: ["a", "b"] }))).toBe("2 calls inside");
  });

  it("shows long arguments by the line", () => {
    expect(argumentsToRead('{"path":"/a"}')).toBe('{"path":"/a"}');
    expect(argumentsToRead('{"path":"/a","file_text":"x\\ny","n":1}')).toBe(
      "path: /a\nfile_text:\nx\ny\nn: 1",
    );
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
