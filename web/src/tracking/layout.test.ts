import { describe, expect, it } from "vitest";
import { type Block, blocksOf, type Chart, type ChartNode, sizeOf, type Work } from "./blocks";
import { fold, type Outcome } from "./fold";
import { layOutGraph } from "./graph";
import { layOut } from "./layout";
import type { Box, Layout, Line } from "./shapes";

// The same walk as that of the server's `entry/chart.py`, which gives the ids.
function charted(work: Work): { work: Work; chart: Chart } {
  const nodes: { -readonly [Key in keyof ChartNode]: ChartNode[Key] }[] = [];
  let works = 0;
  const add = (hint: ChartNode["hint"], label?: string) => {
    nodes.push({ id: nodes.length, hint, ...(label === undefined ? {} : { label }) });
    return nodes.length - 1;
  };
  const join = (from: number, to: number, label?: "true" | "false", loopBack = false) => {
    const node = nodes[from];
    if (node === undefined) return;
    const arrow = { to, loopBack, ...(label === undefined ? {} : { label }) };
    node.arrows = [...(node.arrows ?? []), arrow];
  };
  const number = (one: Work): Work => {
    switch (one.kind) {
      case "Ref":
        return { ...one, workIdInJob: works++ };
      case "Seq":
      case "Par":
        return { ...one, works: one.works.map(number) };
      case "Loop": {
        const pre = one.preCondition;
        const post = one.postCondition;
        const before = pre ? ([pre[0], number(pre[1])] as const) : undefined;
        const after = post ? ([post[0], number(post[1])] as const) : undefined;
        return {
          kind: "Loop",
          body: number(one.body),
          ...(before ? { preCondition: before } : {}),
          ...(after ? { postCondition: after } : {}),
        };
      }
      case "Alt":
        return {
          kind: "Alt",
          condition: number(one.condition),
          ...(one.trueWork ? { trueWork: number(one.trueWork) } : {}),
          ...(one.falseWork ? { falseWork: number(one.falseWork) } : {}),
        };
    }
  };
  const condition = (one: Work): [number, number] => {
    if (one.kind === "Ref") return ref(one, "CondNode");
    if (one.kind !== "Seq" || one.works.length < 2) return draw(one);
    const begin = add("CondBegin");
    const inside = draw(one);
    const end = add("CondEnd");
    join(begin, inside[0]);
    join(inside[1], end);
    return [begin, end];
  };
  const ref = (
    one: Extract<Work, { kind: "Ref" }>,
    kind: "TaskNode" | "CondNode",
  ): [number, number] => {
    const id = add([kind, one.workIdInJob], one.taskId);
    return [id, id];
  };
  const draw = (one: Work): [number, number] => {
    switch (one.kind) {
      case "Ref":
        return ref(one, "TaskNode");
      case "Seq": {
        const parts = one.works.map(draw);
        parts.forEach((part, index) => {
          const before = parts[index - 1];
          if (before) join(before[1], part[0]);
        });
        return [parts[0]?.[0] ?? 0, parts.at(-1)?.[1] ?? 0];
      }
      case "Par": {
        const begin = add("ParBegin");
        const parts = one.works.map(draw);
        const end = add("ParEnd");
        for (const part of parts) {
          join(begin, part[0]);
          join(part[1], end);
        }
        return [begin, end];
      }
      case "Loop": {
        const before = one.preCondition ? condition(one.preCondition[1]) : null;
        const body = draw(one.body);
        const after = one.postCondition ? condition(one.postCondition[1]) : null;
        const end = add("LoopEnd");
        if (before) {
          join(before[1], body[0], "true");
          join(before[1], end, "false");
        }
        if (after) {
          join(body[1], after[0]);
          join(after[1], (before ?? body)[0], "true", true);
          join(after[1], end, "false");
        } else join(body[1], end);
        return [(before ?? body)[0], end];
      }
      case "Alt": {
        const asked = condition(one.condition);
        const yes = one.trueWork ? draw(one.trueWork) : null;
        const no = one.falseWork ? draw(one.falseWork) : null;
        const end = add("AltEnd");
        join(asked[1], yes?.[0] ?? end, "true");
        join(asked[1], no?.[0] ?? end, "false");
        for (const branch of [yes, no]) if (branch) join(branch[1], end);
        return [asked[0], end];
      }
    }
  };
  const numbered = number(work);
  draw(numbered);
  return { work: numbered, chart: { nodes } };
}

const ref = (taskId: string): Work => ({ kind: "Ref", taskId, workIdInJob: 0 });
const seq = (...works: Work[]): Work => ({ kind: "Seq", works });
const par = (...works: Work[]): Work => ({ kind: "Par", works });
const many = (count: number, name = "translate") => Array.from({ length: count }, () => ref(name));

const SHIP = seq(
  ref("design"),
  {
    kind: "Alt",
    condition: seq(ref("scan-risk"), ref("needs-migration")),
    trueWork: ref("write-migration"),
  },
  par(ref("build-server"), ref("build-web"), ...many(18)),
  { kind: "Loop", body: ref("fix-tests"), postCondition: [true, ref("tests-pass")] },
  ref("open-pr"),
);

function block(work: Work): Block {
  const { work: numbered, chart } = charted(work);
  const found = blocksOf(numbered, chart);
  if (found === null) throw new Error("The chart is not that of the works.");
  return found;
}

const NOTHING_ASKED = {
  foldSiblings: false,
  hideSucceeded: false,
  failedOnly: false,
  open: new Set<string>(),
};
const FOLDED = { ...NOTHING_ASKED, foldSiblings: true };
const unknown = (): Outcome => "other";

const boxOf = (layout: Layout, label: string): Box => {
  const found = layout.boxes.find((box) => box.of?.label === label);
  if (found === undefined) throw new Error(`There is no ${label}.`);
  return found;
};
const middle = (box: Box) => box.x + box.width / 2;

function overlap(one: Box, two: Box): boolean {
  const across = one.x < two.x + two.width && two.x < one.x + one.width;
  return across && one.y < two.y + two.height && two.y < one.y + one.height;
}

describe("the blocks of a chart", () => {
  it("are read from the works, and have every node of the chart once", () => {
    const { work, chart } = charted(SHIP);
    const found = blocksOf(work, chart);
    expect(found && sizeOf(found)).toBe(27);
    const keys = found ? layOut(found).boxes.map((box) => box.key) : [];
    expect(keys.toSorted()).toEqual(chart.nodes.map((node) => `n${node.id}`).toSorted());
  });

  it("have the arrows of the chart, no more and no less", () => {
    const { chart } = charted(SHIP);
    const told = (line: Line) => `${line.from} ${line.to} ${line.loopBack} ${line.label}`;
    const drawn = layOut(block(SHIP)).lines.map(told).toSorted();
    const wanted = chart.nodes.flatMap((node) =>
      (node.arrows ?? []).map(
        ({ to, loopBack, label }) => `n${node.id} n${to} ${loopBack} ${label ?? null}`,
      ),
    );
    expect(drawn).toEqual(wanted.toSorted());
  });

  it("are not guessed where the chart is another one", () => {
    const { chart } = charted(seq(ref("one"), ref("two")));
    expect(blocksOf(charted(par(ref("one"), ref("two"))).work, chart)).toBeNull();
    expect(blocksOf(charted(ref("one")).work, chart)).toBeNull();
  });
});

describe("the layout", () => {
  it("lets no two nodes touch, and leaves nothing outside", () => {
    const deep = par(SHIP, seq(SHIP, { kind: "Loop", body: SHIP, preCondition: [true, SHIP] }));
    for (const work of [SHIP, deep]) {
      const layout = layOut(block(work));
      layout.boxes.forEach((one, index) => {
        expect(layout.boxes.slice(index + 1).filter((two) => overlap(one, two))).toEqual([]);
        expect(one.x).toBeGreaterThanOrEqual(0);
        expect(one.x + one.width).toBeLessThanOrEqual(layout.width);
        expect(one.y + one.height).toBeLessThanOrEqual(layout.height);
      });
      for (const [x] of layout.lines.flatMap((line) => line.points)) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(layout.width);
      }
    }
  });

  it("puts what follows below, and points upwards only where the chart loops back", () => {
    for (const line of layOut(block(SHIP)).lines) {
      const [start, end] = [line.points[0], line.points.at(-1)];
      if (line.loopBack) expect(end?.[1]).toBeLessThan(start?.[1] ?? 0);
      else expect(end?.[1]).toBeGreaterThan(start?.[1] ?? 0);
    }
  });

  it("keeps the way of a sequence on one axis", () => {
    const layout = layOut(block(SHIP));
    const axis = middle(boxOf(layout, "design"));
    for (const name of ["scan-risk", "needs-migration", "fix-tests", "tests-pass", "open-pr"]) {
      expect(middle(boxOf(layout, name))).toBeCloseTo(axis);
    }
  });

  it("spans the bars over what runs beside each other", () => {
    const layout = layOut(block(par(ref("one"), ref("two"), ref("three"))));
    const [begin, end] = layout.boxes.filter((box) => box.kind.startsWith("Par"));
    expect(begin?.x).toBe(boxOf(layout, "one").x);
    expect((begin?.x ?? 0) + (begin?.width ?? 0)).toBe(boxOf(layout, "three").x + 172);
    expect(end?.width).toBe(begin?.width);
  });

  it("knows which steps decide on a way", () => {
    const layout = layOut(block(SHIP));
    const decided = layout.lines.filter((line) => line.label !== null);
    const names = decided.map((line) => [line.label, line.decidedBy.map((step) => step.task)]);
    expect(names).toContainEqual(["false", ["scan-risk", "needs-migration"]]);
    expect(names).toContainEqual(["true", ["tests-pass"]]);
  });

  it("takes less than a second for 2,000 nodes, whatever their shape", () => {
    const wide = par(...many(2_000));
    const tall = seq(...many(2_000));
    const nested = par(...Array.from({ length: 60 }, () => SHIP));
    for (const work of [wide, tall, nested]) {
      const read = block(work);
      const begun = performance.now();
      const folded = fold(read, FOLDED, unknown).block;
      if (folded !== null) layOut(folded);
      layOut(read);
      expect(performance.now() - begun).toBeLessThan(1_000);
    }
  });
});

describe("folding", () => {
  it("draws siblings that are alike as one, and leaves the others", () => {
    const layout = layOut(fold(block(SHIP), FOLDED, unknown).block ?? block(SHIP));
    expect(boxOf(layout, "translate × 18").of).toMatchObject({ kind: "stack", count: 18 });
    expect(boxOf(layout, "build-web").of).toMatchObject({ kind: "step" });
    expect(layout.boxes.filter((box) => box.of?.label === "translate")).toEqual([]);
  });

  it("names what is folded when it is more than one task", () => {
    const pair = () => seq(ref("write"), ref("check"));
    const folded = fold(block(par(pair(), pair(), pair(), pair(), pair())), FOLDED, unknown);
    const layout = layOut(folded.block ?? block(ref("x")));
    expect(boxOf(layout, "write, check × 5").of).toMatchObject({ count: 5 });
  });

  it("opens one stack that somebody asked for", () => {
    const folded = layOut(fold(block(SHIP), FOLDED, unknown).block ?? block(SHIP));
    const open = new Set([boxOf(folded, "translate × 18").key]);
    const unfolded = fold(block(SHIP), { ...FOLDED, open }, unknown);
    expect(unfolded.block && sizeOf(unfolded.block)).toBe(sizeOf(block(SHIP)));
  });

  it("hides what succeeded and says how many lie in between", () => {
    const work = seq(ref("one"), ref("two"), ref("three"), ref("four"));
    const outcome = (step: { task: string }): Outcome =>
      step.task === "two" || step.task === "three" ? "succeeded" : "other";
    const hidden = fold(block(work), { ...NOTHING_ASKED, hideSucceeded: true }, outcome);
    const layout = layOut(hidden.block ?? block(work));
    expect(layout.boxes.map((box) => box.of?.label)).toEqual(["one", "four"]);
    expect(layout.lines.map((line) => line.skips)).toEqual([2]);
  });

  it("shows only what failed, with the blocks that it is in", () => {
    const outcome = (step: { task: string }): Outcome =>
      step.task === "build-web" ? "failed" : "other";
    const failed = fold(block(SHIP), { ...NOTHING_ASKED, failedOnly: true }, outcome);
    const layout = layOut(failed.block ?? block(SHIP));
    expect(layout.boxes.flatMap((box) => box.of?.label ?? [])).toEqual(["build-web"]);
    expect(layout.boxes.map((box) => box.kind)).toContain("ParBegin");
    expect(fold(block(SHIP), { ...NOTHING_ASKED, failedOnly: true }, unknown).block).toBeNull();
  });

  it("folds siblings, then levels, then neighbours when there are too many, and says so", () => {
    const read = (work: Work) => fold(block(work), NOTHING_ASKED, unknown, () => false, 100);
    const siblings = read(par(...many(300)));
    expect(siblings.notice).toBe("300 nodes are too many to draw at once: siblings are folded.");
    expect(siblings.block && sizeOf(siblings.block)).toBe(1);

    const different = read(par(...many(300).map((_, index) => ref(`task ${index}`))));
    expect(different.notice).toContain("siblings are folded");

    const level = seq(...Array.from({ length: 20 }, (_, n) => par(ref(`a${n}`), seq(...many(9)))));
    const levels = read(level);
    expect(levels.notice).toContain("levels below");
    expect(levels.block && sizeOf(levels.block)).toBeLessThanOrEqual(100);

    const row = read(seq(...many(500).map((_, index) => ref(`task ${index}`))));
    expect(row.notice).toContain("neighbors");
    expect(row.block && sizeOf(row.block)).toBeLessThanOrEqual(100);
    expect(read(SHIP).notice).toBeNull();
  });
});

describe("a chart whose nesting is not known", () => {
  it("is laid out all the same, with the way back at the side", () => {
    const { chart } = charted(SHIP);
    const layout = layOutGraph(chart);
    expect(layout.boxes).toHaveLength(chart.nodes.length);
    for (const line of layout.lines) {
      const [start, end] = [line.points[0], line.points.at(-1)];
      if (line.loopBack) expect(end?.[1]).toBeLessThan(start?.[1] ?? 0);
      else expect(end?.[1]).toBeGreaterThan(start?.[1] ?? 0);
    }
  });
});
