import { describe, expect, it } from "vitest";
import type { Step } from "./blocks";
import { layOut } from "./layout";
import type { Box, Layout } from "./shapes";
import { afterInWords, stepped, waysOf } from "./steps";

const step = (work: number, label: string, asks = false): Step => ({
  kind: "step",
  key: label,
  shape: asks ? "CondNode" : "TaskNode",
  work,
  task: label,
  label,
  name: label,
  asks,
});

const sign = <Mark extends string>(mark: Mark) => ({ key: mark, mark });

const layout: Layout = layOut({
  kind: "seq",
  parts: [
    step(0, "design"),
    {
      kind: "par",
      key: "par",
      begin: sign("ParBegin"),
      parts: [step(1, "server"), step(2, "web"), step(3, "text"), step(4, "tests")],
      end: sign("ParEnd"),
    },
    {
      kind: "loop",
      key: "loop",
      before: null,
      body: step(5, "fix"),
      after: step(6, "passes", true),
      enters: "true",
      repeats: "false",
      end: sign("LoopEnd"),
    },
    step(7, "open"),
  ],
});

const ways = waysOf(layout);
const named = (name: string): Box => {
  const found = layout.boxes.find((box) => box.of?.label === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
};
const pressed = (from: string, key: string) => stepped(ways, named(from), key)?.of?.label;

describe("the arrow keys", () => {
  it("go down and up along the arrows, past the marks", () => {
    expect(pressed("design", "ArrowDown")).toBe("server");
    expect(pressed("web", "ArrowDown")).toBe("fix");
    expect(pressed("passes", "ArrowDown")).toBe("open");
    expect(pressed("fix", "ArrowUp")).toBe("server");
    expect(pressed("text", "ArrowUp")).toBe("design");
    expect(pressed("design", "ArrowUp")).toBeUndefined();
  });

  it("go left and right between siblings", () => {
    expect(pressed("server", "ArrowRight")).toBe("web");
    expect(pressed("text", "ArrowLeft")).toBe("web");
    expect(pressed("server", "ArrowLeft")).toBeUndefined();
  });

  it("go to the first and the last", () => {
    expect(pressed("fix", "Home")).toBe("design");
    expect(pressed("fix", "End")).toBe("open");
    expect(pressed("fix", "x")).toBeUndefined();
  });
});

it("tells the arrows in words", () => {
  const told = (name: string) => afterInWords(ways, name, (box) => box.of?.label ?? "");
  expect(told("design")).toBe("Then server, then web, then text and 1 more.");
  expect(told("passes")).toBe("Back to fix, if true open.");
  expect(told("open")).toBe("This is the last node.");
});
