import { describe, expect, it } from "vitest";
import type { Block, Step } from "./blocks";
import { stepsOf } from "./blocks";
import { fold } from "./fold";
import { layOut } from "./layout";
import { fitting } from "./zoom";

const step = (work: number, label = "translate"): Step => ({
  kind: "step",
  key: `n${work}`,
  shape: "TaskNode",
  work,
  task: label,
  label,
  name: `${label} · ${work + 1}`,
  asks: false,
});

const wide = (count: number, label?: string): Block => ({
  kind: "par",
  key: "p",
  begin: { key: "b", mark: "ParBegin" },
  end: { key: "e", mark: "ParEnd" },
  parts: Array.from({ length: count }, (_, work) => step(work, label ?? `task-${work}`)),
});

const PARTS = {
  foldSiblings: true,
  hideSucceeded: false,
  failedOnly: false,
  open: new Set<string>(),
};
const folded = (block: Block, open: string[] = []) =>
  fold(block, { ...PARTS, open: new Set(open) }, () => "other").block;

describe("many tasks beside each other", () => {
  it("wrap into a grid that a usual window fits, whatever they are called", () => {
    const block = folded(wide(40));
    if (block === null) throw new Error("nothing is left");
    expect(stepsOf(block)).toHaveLength(40);
    const layout = layOut(block);
    expect(layout.width).toBeLessThan(720);
    expect(fitting(layout, { width: 630, height: 700 })).toBeGreaterThanOrEqual(0.8);
    expect(layout.frames).toHaveLength(1);
    const places = new Set(layout.boxes.filter((box) => box.tile).map(({ x, y }) => `${x} ${y}`));
    expect(places.size).toBe(40);
  });

  it("are one where they are alike, and tiles with their numbers once that is opened", () => {
    const stack = folded(wide(40, "translate"));
    expect(stack).toMatchObject({ parts: [{ kind: "stack", label: "translate × 40" }] });
    const opened = folded(wide(40, "translate"), ["sn0"]);
    if (opened === null) throw new Error("nothing is left");
    const tiles = layOut(opened).boxes.filter((box) => box.tile !== undefined);
    expect(tiles.map((box) => box.tile).slice(0, 3)).toEqual(["1", "2", "3"]);
  });

  it("share a tile where they have succeeded and there are more than eight rows", () => {
    const done = (step: Step) => step.work !== 7;
    const drawn = (count: number, open: string[] = []) => {
      const parts = { ...PARTS, open: new Set(open) };
      const { block } = fold(wide(count), parts, () => "other", done);
      if (block === null) throw new Error("nothing is left");
      expect(stepsOf(block)).toHaveLength(count);
      const { boxes, frames } = layOut(block);
      return { tiles: boxes.flatMap((box) => box.tile ?? []), frame: frames[0] };
    };
    const many = drawn(60);
    expect(many.tiles).toEqual(["task-7 · 8", "59 more"]);
    expect(many.frame?.tiles.steps).toHaveLength(60);
    expect(many.frame?.width).toBeGreaterThanOrEqual(300);
    expect(drawn(60, ["dtp"]).tiles).toHaveLength(60);
    expect(drawn(30).tiles).toHaveLength(30);
  });

  it("stay nodes where they are few", () => {
    const block = folded(wide(8));
    expect(block === null ? [] : layOut(block).frames).toEqual([]);
  });
});
