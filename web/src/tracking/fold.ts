/** Which blocks of a chart are drawn, and which are drawn as one. */

import { type Block, partsOf, type Stack, type Step, sizeOf, stepsOf, type Tiles } from "./blocks";
import { gridOf } from "./tiles";

export type ShownParts = {
  foldSiblings: boolean;
  hideSucceeded: boolean;
  failedOnly: boolean;
  /** Keys of stacks that somebody opened. */
  open: ReadonlySet<string>;
};

export type Folded = {
  /** Null where nothing is left to be drawn. */
  block: Block | null;
  /** What was folded although nobody asked for it, in words. */
  notice: string | null;
};

export type Outcome = "succeeded" | "failed" | "other";

/** More are not drawn at once: the page would freeze. */
export const MOST = 2_000;
/** So many that are alike become one. */
const ALIKE = 5;

export function fold(
  block: Block,
  shownParts: ShownParts,
  outcome: (step: Step) => Outcome,
  isDone: (step: Step) => boolean = () => false,
  most = MOST,
): Folded {
  const left =
    shownParts.failedOnly || shownParts.hideSucceeded ? without(block, shownParts, outcome) : block;
  if (left === null) return { block: null, notice: null };
  const asked = shownParts.foldSiblings ? foldAlike(left, byTask, shownParts.open) : left;
  if (sizeOf(asked) <= most) {
    return { block: tiled(asked, isDone, shownParts.open), notice: null };
  }
  return foldMore(left, sizeOf(asked), most);
}

/** Siblings first, then levels, the deepest first; then what stands one below the other. */
function foldMore(block: Block, wanted: number, most: number): Folded {
  const many = `${wanted.toLocaleString("en")} nodes are too many to draw at once`;
  const opened: ReadonlySet<string> = new Set();
  let folded = foldAlike(block, byTask, opened);
  if (sizeOf(folded) <= most) {
    return { block: folded, notice: `${many}: siblings are folded.` };
  }
  folded = foldAlike(block, byShape, opened);
  if (sizeOf(folded) <= most) {
    return { block: folded, notice: `${many}: siblings are folded.` };
  }
  for (let depth = depthOf(folded) - 1; depth > 0; depth -= 1) {
    folded = foldBelow(folded, depth);
    if (sizeOf(folded) <= most) {
      return { block: folded, notice: `${many}: siblings and levels below ${depth} are folded.` };
    }
  }
  const notice = `${many}: siblings, levels and neighbors are folded.`;
  return { block: foldRow(folded, most), notice };
}

/** So many tasks beside each other are too wide for a row. */
const WIDE = 8;

/** Of more rows of tiles, those that have succeeded are one tile. */
const MOST_ROWS = 8;

/** Tasks that run at the same time wrap into a grid where there are many of them. */
function tiled(block: Block, isDone: (step: Step) => boolean, open: ReadonlySet<string>): Block {
  const inside = mapParts(block, (part) => tiled(part, isDone, open));
  if (inside.kind !== "par") return inside;
  const steps = inside.parts.filter((part) => part.kind === "step");
  if (steps.length <= WIDE) return inside;
  const label = counted(steps);
  const whole: Tiles = { kind: "tiles", key: `t${inside.key}`, label, steps, done: null };
  const tiles = { ...whole, done: doneIn(whole, isDone, open) };
  return { ...inside, parts: [tiles, ...inside.parts.filter((part) => part.kind !== "step")] };
}

function counted(steps: readonly Step[]): string {
  const names = new Set(steps.map(labelOf));
  return `${names.size === 1 ? steps[0]?.label : "tasks"} × ${steps.length}`;
}

function doneIn(
  tiles: Tiles,
  isDone: (step: Step) => boolean,
  open: ReadonlySet<string>,
): Stack | null {
  const key = `d${tiles.key}`;
  if (open.has(key) || gridOf(tiles).rows <= MOST_ROWS) return null;
  const steps = tiles.steps.filter(isDone);
  if (steps.length < ALIKE) return null;
  const label = counted(steps);
  return { kind: "stack", key, shape: "TaskNode", label, steps, count: steps.length };
}

type Alike = (block: Block) => string;

const byTask: Alike = (block) => shapeOf(block, (step) => JSON.stringify(step.label));
const byShape: Alike = (block) => shapeOf(block, () => "");

function shapeOf(block: Block, name: (step: Step) => string): string {
  if (block.kind === "step") return `${block.shape}${name(block)}`;
  if (block.kind === "stack" || block.kind === "tiles")
    return `${block.steps.length}${block.steps.map(name).join()}`;
  return `${block.kind}(${partsOf(block)
    .map((part) => shapeOf(part, name))
    .join()})`;
}

function foldAlike(block: Block, alike: Alike, open: ReadonlySet<string>): Block {
  const folded = mapParts(block, (part) => foldAlike(part, alike, open));
  if (folded.kind !== "par" || block.kind !== "par") return folded;
  const names = block.parts.map(alike);
  const groups = new Map<string, Block[]>();
  block.parts.forEach((part, index) => {
    const group = groups.get(names[index] ?? "");
    if (group === undefined) groups.set(names[index] ?? "", [part]);
    else group.push(part);
  });
  const stacks = new Map<string, Stack>();
  for (const [name, group] of groups) {
    const stack = group.length >= ALIKE ? stacked(group, group.length) : null;
    if (stack !== null && !open.has(stack.key)) stacks.set(name, stack);
  }
  const parts: Block[] = [];
  block.parts.forEach((part, index) => {
    const name = names[index] ?? "";
    const stack = stacks.get(name);
    if (stack === undefined) parts.push(folded.parts[index] ?? part);
    else if (groups.get(name)?.[0] === part) parts.push(stack);
  });
  return { ...folded, parts };
}

function stacked(members: readonly Block[], count: number): Stack | null {
  const steps = members.flatMap(stepsOf);
  const first = steps[0];
  if (first === undefined) return null;
  const names = new Set(steps.map((step) => step.label));
  const alike = members[0] === undefined ? [] : [...new Set(stepsOf(members[0]).map(labelOf))];
  const label =
    names.size === alike.length
      ? `${alike.slice(0, 2).join(", ")}${alike.length > 2 ? " …" : ""} × ${count}`
      : `${steps.length} tasks`;
  return { kind: "stack", key: `s${first.key}`, shape: "TaskNode", label, steps, count };
}

const labelOf = (step: Step) => step.label;

function depthOf(block: Block): number {
  return 1 + Math.max(0, ...partsOf(block).map(depthOf));
}

function foldBelow(block: Block, depth: number): Block {
  const parts = partsOf(block);
  if (parts.length === 0) return block;
  if (depth > 1) return mapParts(block, (part) => foldBelow(part, depth - 1));
  return mapParts(block, (part) => (partsOf(part).length === 0 ? part : (level(part) ?? part)));
}

function level(block: Block): Stack | null {
  const steps = stepsOf(block);
  const first = steps[0];
  if (first === undefined) return null;
  const label = steps.length === 1 ? first.label : `${steps.length} tasks`;
  return { kind: "stack", key: `s${first.key}`, shape: "TaskNode", label, steps, count: 1 };
}

/** What stands in one row or column, in portions. */
function foldRow(block: Block, most: number): Block {
  if (block.kind !== "seq" && block.kind !== "par") return level(block) ?? block;
  const portion = Math.ceil(block.parts.length / (most / 4));
  const parts: Block[] = [];
  for (let start = 0; start < block.parts.length; start += portion) {
    const members = block.parts.slice(start, start + portion);
    const [only] = members;
    const stack = stacked(members, members.length);
    parts.push(members.length === 1 && only !== undefined ? only : (stack ?? block));
  }
  return block.kind === "par" ? { ...block, parts } : { kind: "seq", parts };
}

function without(
  block: Block,
  shownParts: ShownParts,
  outcome: (step: Step) => Outcome,
): Block | null {
  const keep = (part: Block | null) => (part === null ? null : without(part, shownParts, outcome));
  switch (block.kind) {
    case "step": {
      const is = outcome(block);
      if (shownParts.failedOnly && is !== "failed") return null;
      return shownParts.hideSucceeded && is === "succeeded" ? null : block;
    }
    case "stack":
    case "tiles":
      return block;
    case "seq": {
      const parts: Block[] = [];
      const skips: number[] = [0];
      for (const part of block.parts) {
        const kept = keep(part);
        const last = skips.length - 1;
        if (kept === null) skips[last] = (skips[last] ?? 0) + stepsOf(part).length;
        else {
          parts.push(kept);
          skips.push(0);
        }
      }
      return parts.length === 0 ? null : { kind: "seq", parts, skips };
    }
    case "par": {
      const parts = block.parts.map(keep).filter((part) => part !== null);
      return parts.length === 0 ? null : { ...block, parts };
    }
    case "cond": {
      const inside = keep(block.inside);
      return inside === null ? null : { ...block, inside };
    }
    case "loop":
    case "alt": // one with a hole in it would tell another story: it stays whole or goes
      return partsOf(block).every((part) => keep(part) === null) ? null : block;
  }
}

function mapParts<Kind extends Block>(block: Kind, change: (part: Block) => Block): Kind;
function mapParts(block: Block, change: (part: Block) => Block): Block {
  const or = (part: Block | null) => (part === null ? null : change(part));
  switch (block.kind) {
    case "step":
    case "stack":
    case "tiles":
      return block;
    case "seq":
    case "par":
      return { ...block, parts: block.parts.map(change) };
    case "cond":
      return { ...block, inside: change(block.inside) };
    case "loop":
      return {
        ...block,
        before: or(block.before),
        body: change(block.body),
        after: or(block.after),
      };
    case "alt":
      return {
        ...block,
        condition: change(block.condition),
        yes: or(block.yes),
        no: or(block.no),
      };
  }
}
