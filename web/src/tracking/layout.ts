/** Where the nodes and arrows of a chart lie. Series and parallels nest, so boxes in boxes place
    every node exactly, in one pass over thousands of them. Colours are not known here. */

import {
  type Block,
  deciding,
  type Label,
  type Mark,
  nameOf,
  other,
  type Step,
  type Tiles,
  tilesIn,
} from "./blocks";
import {
  BAR,
  type Box,
  type Kind,
  type Layout,
  type Line,
  NODE_HEIGHT,
  type Point,
  SIZES,
  type TileFrame,
  widthOf,
} from "./shapes";
import { gridOf, tilesAt } from "./tiles";

const MARGIN = 28;
const DOWN = 24; // between one node and the next below
const LABELLED = 34; // there is a word beside the arrow
const BESIDE = 26;
const LANE = 52; // beside a loop, for the way back
const STACKED = 10; // what lies behind the front of a stack

/** How far a block reaches from its axis, the line on which one enters and leaves it. */
type Extent = { left: number; right: number; height: number };

export function layOut(block: Block): Layout {
  const drawing = new Drawing();
  const extent = drawing.extent(block);
  drawing.place(block, MARGIN + extent.left, MARGIN);
  return {
    width: extent.left + extent.right + 2 * MARGIN,
    height: extent.height + 2 * MARGIN,
    boxes: drawing.boxes,
    lines: drawing.lines,
    frames: drawing.frames,
  };
}

type Ends = { first: Box; last: Box };
type Columns = { yes: number; no: number };

class Drawing {
  readonly boxes: Box[] = [];
  readonly lines: Line[] = [];
  readonly frames: TileFrame[] = [];
  private readonly extents = new Map<Block, Extent>();
  /** How many ways back come in at a node already. */
  private readonly returns = new Map<string, number>();

  extent(block: Block): Extent {
    const known = this.extents.get(block);
    if (known !== undefined) return known;
    const measured = this.measure(block);
    this.extents.set(block, measured);
    return measured;
  }

  private measure(block: Block): Extent {
    switch (block.kind) {
      case "step":
      case "stack": // what lies behind its front takes of the space around it
        return around(widthOf(nameOf(block), block.shape), NODE_HEIGHT);
      case "tiles": {
        const { width, height } = gridOf(block);
        return around(width, height);
      }
      case "seq":
        return stacked(
          block.parts.map((part) => this.extent(part)),
          block.parts.length === 0 ? 0 : DOWN,
        );
      case "par": {
        const row = this.row(block.parts);
        return { ...row, height: row.height + 2 * (BAR + DOWN) };
      }
      case "cond":
        return stacked([mark("CondBegin"), this.extent(block.inside), mark("CondEnd")], DOWN);
      case "loop":
        return this.measureLoop(block);
      case "alt":
        return this.measureAlt(block);
    }
  }

  private measureLoop(block: Extract<Block, { kind: "loop" }>): Extent {
    const parts = [block.before, block.body, block.after].filter((part) => part !== null);
    const inside = stacked([...parts.map((part) => this.extent(part)), mark("LoopEnd")], DOWN);
    return {
      left: inside.left + (block.before === null ? 0 : LANE),
      right: inside.right + (block.after === null ? 0 : LANE),
      height: inside.height + (LABELLED - DOWN) * (Number(!!block.before) + Number(!!block.after)),
    };
  }

  private measureAlt(block: Extract<Block, { kind: "alt" }>): Extent {
    const condition = this.extent(block.condition);
    const { yes, no } = this.columns(block);
    const [left, right] = [this.branch(block.yes), this.branch(block.no)];
    const branches = Math.max(left.height, right.height);
    return {
      left: Math.max(condition.left, yes + Math.max(left.left, 40)),
      right: Math.max(condition.right, no + Math.max(right.right, 40)),
      height: condition.height + LABELLED + branches + DOWN + BAR,
    };
  }

  private branch(block: Block | null): Extent {
    return block === null ? { left: 24, right: 24, height: 0 } : this.extent(block);
  }

  /** How far the axes of the two branches lie from the condition's. */
  private columns(block: Extract<Block, { kind: "alt" }>): Columns {
    const half = lastHalf(block.condition) + 24;
    const yes = Math.max(half, this.branch(block.yes).right + BESIDE / 2);
    const no = Math.max(half, this.branch(block.no).left + BESIDE / 2);
    const far = Math.max(yes, no);
    return far > 2 * Math.min(yes, no) ? { yes, no } : { yes: far, no: far };
  }

  private row(parts: readonly Block[]): Extent {
    const extents = parts.map((part) => this.extent(part));
    const width = extents.reduce((sum, { left, right }) => sum + left + right, 0);
    const whole = width + BESIDE * (parts.length - 1);
    const height = Math.max(...extents.map((extent) => extent.height));
    return around(Math.max(whole, SIZES.ParBegin[0]), height);
  }

  place(block: Block, x: number, y: number): Ends {
    switch (block.kind) {
      case "step":
      case "stack":
        return alone(
          this.put(block.key, block.shape, x, y, widthOf(nameOf(block), block.shape), block),
        );
      case "tiles":
        return this.placeTiles(block, x, y);
      case "seq":
        return this.placeSeq(block, x, y);
      case "par":
        return this.placePar(block, x, y);
      case "cond": {
        const first = this.putMark(block.begin.key, "CondBegin", x, y);
        const inside = this.place(block.inside, x, y + BAR + DOWN);
        const height = this.extent(block.inside).height;
        const last = this.putMark(block.end.key, "CondEnd", x, y + BAR + DOWN + height + DOWN);
        this.down(first, inside.first);
        this.down(inside.last, last);
        return { first, last };
      }
      case "loop":
        return this.placeLoop(block, x, y);
      case "alt":
        return this.placeAlt(block, x, y);
    }
  }

  private placeSeq(block: Extract<Block, { kind: "seq" }>, x: number, y: number): Ends {
    let ends: Ends | null = null;
    block.parts.forEach((part, index) => {
      const placed = this.place(part, x, y);
      if (ends === null) ends = placed;
      else {
        this.down(ends.last, placed.first, { skips: block.skips?.[index] ?? 0 });
        ends = { first: ends.first, last: placed.last };
      }
      y += this.extent(part).height + DOWN;
    });
    if (ends === null) throw new Error("A sequence without works cannot be drawn.");
    return ends;
  }

  /** One enters and leaves at the frame; who goes by keys, at every tile. */
  private placeTiles(block: Tiles, x: number, y: number): Ends {
    const { frame, boxes } = tilesAt(block, x, y);
    this.frames.push(frame);
    this.boxes.push(...boxes);
    return alone({ ...frame, kind: "ParBegin", of: null });
  }

  private placePar(block: Extract<Block, { kind: "par" }>, x: number, y: number): Ends {
    const { left, right, height } = this.extent(block);
    const first = this.putMark(block.begin.key, "ParBegin", x, y, left + right);
    const last = this.putMark(block.end.key, "ParEnd", x, y + height - BAR, left + right);
    const extents = block.parts.map((part) => this.extent(part));
    const whole = extents.reduce((sum, part) => sum + part.left + part.right, 0);
    let edge = x - (whole + BESIDE * (block.parts.length - 1)) / 2;
    block.parts.forEach((part, index) => {
      const extent = extents[index] ?? this.extent(part);
      const axis = edge + extent.left;
      const ends = this.place(part, axis, y + BAR + DOWN);
      this.straight(first, ends.first, axis);
      this.straight(ends.last, last, axis);
      if (part.kind === "tiles") this.through(first, part, last);
      edge += extent.left + extent.right + BESIDE;
    });
    return { first, last };
  }

  private placeLoop(block: Extract<Block, { kind: "loop" }>, x: number, y: number): Ends {
    const { left, right } = this.extent(block);
    const before = block.before === null ? null : this.place(block.before, x, y);
    if (block.before !== null) y += this.extent(block.before).height + LABELLED;
    const body = this.place(block.body, x, y);
    y += this.extent(block.body).height + DOWN;
    const after = block.after === null ? null : this.place(block.after, x, y);
    if (block.after !== null) y += this.extent(block.after).height + LABELLED;
    const end = this.putMark(block.end.key, "LoopEnd", x, y);
    const first = (before ?? body).first;
    if (before !== null && block.before !== null) {
      const decidedBy = deciding(block.before);
      this.down(before.last, body.first, { label: block.enters, decidedBy });
      this.round(before.last, end, x - left + 14, other(block.enters), decidedBy);
    }
    if (after !== null && block.after !== null) {
      const decidedBy = deciding(block.after);
      this.down(body.last, after.first);
      this.back(after.last, first, x + right - 14, block.repeats, decidedBy);
      this.down(after.last, end, { label: other(block.repeats), decidedBy });
    } else {
      this.down(body.last, end);
    }
    return { first, last: end };
  }

  private placeAlt(block: Extract<Block, { kind: "alt" }>, x: number, y: number): Ends {
    const condition = this.place(block.condition, x, y);
    const { yes, no } = this.columns(block);
    const decidedBy = deciding(block.condition);
    const { height } = this.extent(block);
    const top = y + this.extent(block.condition).height + LABELLED;
    const begin = x - yes - 40;
    const width = yes + no + 80;
    const end = this.putMark(block.end.key, "AltEnd", begin + width / 2, y + height - BAR, width);
    const branches = [
      ["true", block.yes, x - yes],
      ["false", block.no, x + no],
    ] as const;
    for (const [label, branch, axis] of branches) {
      const ends = branch === null ? null : this.place(branch, axis, top);
      this.aside(condition.last, ends?.first ?? end, axis, label, decidedBy);
      if (ends !== null) this.straight(ends.last, end, axis);
    }
    return { first: condition.first, last: end };
  }

  private put(
    key: string,
    kind: Kind,
    x: number,
    y: number,
    width: number,
    of: Box["of"],
    height = NODE_HEIGHT,
  ): Box {
    const box = { key, kind, x: x - width / 2, y, width, height, of };
    this.boxes.push(box);
    return box;
  }

  private putMark(key: string, kind: Mark, x: number, y: number, width = SIZES[kind][0]): Box {
    return this.put(key, kind, x, y, width, null, SIZES[kind][1]);
  }

  private draw(from: Box, to: Box, points: readonly Point[], more: Partial<Line> = {}): void {
    this.lines.push({
      from: from.key,
      to: to.key,
      points,
      label: null,
      loopBack: false,
      at: null,
      decidedBy: [],
      skips: 0,
      ...more,
    });
  }

  private down(from: Box, to: Box, more: Partial<Line> = {}): void {
    const x = middle(to);
    const [start, end] = [bottom(from), top(to)];
    const points: Point[] = [
      [x, start],
      [x, end],
    ];
    const at: Point | null = more.label ? [x + 22, (start + end) / 2] : null;
    this.draw(from, to, points, { ...more, at });
  }

  /** Ways without a line, for who goes by keys. */
  private through(first: Box, tiles: Tiles, last: Box): void {
    for (const { key } of tilesIn(tiles)) {
      this.draw(first, { ...last, key }, []);
      this.draw({ ...first, key }, last, []);
    }
  }

  private straight(from: Box, to: Box, x: number): void {
    this.draw(from, to, [
      [x, bottom(from)],
      [x, top(to)],
    ]);
  }

  /** From the side of a condition to the column of a branch, and down. */
  private aside(from: Box, to: Box, x: number, label: Label, decidedBy: readonly Step[]): void {
    const y = level(from);
    const side = x < middle(from) ? from.x : from.x + from.width;
    const isBelow = x > from.x && x < from.x + from.width;
    const start: Point[] = isBelow
      ? [[x, bottom(from)]]
      : [
          [side, y],
          [x, y],
        ];
    const points: Point[] = [...start, [x, top(to)]];
    const at: Point = [x, Math.min(bottom(from) + 12, top(to) - 14)];
    this.draw(from, to, points, { label, decidedBy, at });
  }

  /** Past the body, to where the loop ends. */
  private round(from: Box, to: Box, x: number, label: Label, decidedBy: readonly Step[]): void {
    const points: Point[] = [
      [from.x, level(from)],
      [x, level(from)],
      [x, level(to)],
      [to.x, level(to)],
    ];
    this.draw(from, to, points, { label, decidedBy, at: [x, (level(from) + level(to)) / 2] });
  }

  /** Up again; several that come in at one node do so below each other. */
  private back(from: Box, to: Box, x: number, label: Label, decidedBy: readonly Step[]): void {
    const earlier = this.returns.get(to.key) ?? 0;
    this.returns.set(to.key, earlier + 1);
    const y = to.height <= BAR ? level(to) : Math.max(to.y + 6, level(to) - 9 * earlier);
    const points: Point[] = [
      [from.x + from.width, level(from)],
      [x, level(from)],
      [x, y],
      [to.x + to.width, y],
    ];
    const at: Point = [x, (level(from) + y) / 2];
    this.draw(from, to, points, { label, decidedBy, loopBack: true, at });
  }
}

const around = (width: number, height: number): Extent => ({
  left: width / 2,
  right: width / 2,
  height,
});
const mark = (kind: Mark): Extent => around(SIZES[kind][0], SIZES[kind][1]);
const alone = (box: Box): Ends => ({ first: box, last: box });
const middle = (box: Box) => box.x + box.width / 2;
const level = (box: Box) => box.y + box.height / 2;
/** Where an arrow meets it: a stack's last lies higher than its first. */
const top = (box: Box) => (box.of?.kind === "stack" ? box.y - STACKED : box.y);
const bottom = (box: Box) => box.y + box.height;

function stacked(extents: readonly Extent[], gap: number): Extent {
  return {
    left: Math.max(...extents.map((extent) => extent.left)),
    right: Math.max(...extents.map((extent) => extent.right)),
    height: extents.reduce((sum, extent) => sum + extent.height, 0) + gap * (extents.length - 1),
  };
}

/** Half the width of the node with which a condition ends. */
function lastHalf(block: Block): number {
  switch (block.kind) {
    case "step":
    case "stack":
      return widthOf(nameOf(block), block.shape) / 2;
    case "tiles":
      return gridOf(block).width / 2;
    case "cond":
      return SIZES.CondEnd[0] / 2;
    case "seq": {
      const last = block.parts.at(-1);
      return last === undefined ? 0 : lastHalf(last);
    }
    case "loop":
      return SIZES.LoopEnd[0] / 2;
    default:
      return SIZES.ParEnd[0] / 2;
  }
}
