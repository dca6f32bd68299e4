/** A job's chart as nested blocks, as its tree of works has them. How they look is not known here. */

export type Mark = "ParBegin" | "ParEnd" | "CondBegin" | "CondEnd" | "LoopEnd" | "AltEnd";
export type Label = "true" | "false";

export type ChartArrow = { to: number; loopBack: boolean; label?: Label };
export type ChartNode = {
  id: number;
  hint: Mark | readonly ["TaskNode" | "CondNode", number];
  label?: string;
  arrows?: readonly ChartArrow[];
  /** Why it cannot run as it is written; of drafts alone. */
  broken?: string | null;
};
export type Chart = { nodes: readonly ChartNode[] };

export type Work =
  | { kind: "Ref"; taskId: string; workIdInJob: number }
  | { kind: "Seq" | "Par"; works: readonly Work[] }
  | {
      kind: "Loop";
      body: Work;
      preCondition?: readonly [boolean, Work];
      postCondition?: readonly [boolean, Work];
    }
  | { kind: "Alt"; condition: Work; trueWork?: Work; falseWork?: Work };

/** A task or a condition, as the chart shows it. */
export type Step = {
  kind: "step";
  key: string;
  shape: "TaskNode" | "CondNode";
  work: number;
  task: string;
  label: string;
  /** As people know it: `lint · build-web` where there is another `lint`. */
  name: string;
  /** Whether it is part of a condition: then a failure says `false`, and fails nothing. */
  asks: boolean;
  /** Why it cannot run, in a draft. */
  broken?: string;
};

/** Several blocks that are drawn as one. */
export type Stack = {
  kind: "stack";
  key: string;
  shape: "TaskNode" | "CondNode";
  label: string;
  steps: readonly Step[];
  /** How many blocks lie in it: those that are alike are counted, those of a level are not. */
  count: number;
};

/** Many tasks at the same time, drawn as small tiles in a grid. `done` are those of them that share
    one tile, since they have succeeded and there are too many. */
export type Tiles = {
  kind: "tiles";
  key: string;
  label: string;
  steps: readonly Step[];
  done: Stack | null;
};

/** What has a tile of its own. */
export function tilesIn({ steps, done }: Tiles): readonly (Step | Stack)[] {
  if (done === null) return steps;
  const hidden = new Set(done.steps);
  return [...steps.filter((step) => !hidden.has(step)), done];
}

/** What works are called, by their numbers, as the server tells them apart. */
export type Names = Readonly<Record<number, string>>;

/** What stands on a node. */
export const nameOf = (of: Step | Stack): string => (of.kind === "step" ? of.name : of.label);

/** Where ways part and meet. */
export type Sign = { key: string; mark: Mark };

export type Block =
  | Step
  | Stack
  | Tiles
  /** `skips` has how many were left out before each part, and behind the last. */
  | { kind: "seq"; parts: readonly Block[]; skips?: readonly number[] }
  | { kind: "par"; key: string; begin: Sign; end: Sign; parts: readonly Block[] }
  | { kind: "cond"; key: string; begin: Sign; end: Sign; inside: Block }
  | {
      kind: "loop";
      key: string;
      before: Block | null;
      body: Block;
      after: Block | null;
      enters: Label;
      repeats: Label;
      end: Sign;
    }
  | {
      kind: "alt";
      key: string;
      condition: Block;
      yes: Block | null;
      no: Block | null;
      end: Sign;
    };

/** Null where the chart is not that of these works: a newer server may draw otherwise. */
export function blocksOf(work: Work, chart: Chart, names: Names = {}): Block | null {
  const reading = new Reading(chart, names);
  try {
    const block = reading.work(work, false);
    return reading.isDone ? block : null;
  } catch (error) {
    if (error instanceof Unlike) return null;
    throw error;
  }
}

class Unlike extends Error {}

const opposite = (label: Label): Label => (label === "true" ? "false" : "true");
const labelOf = (value: boolean): Label => (value ? "true" : "false");
export const other = opposite;

/** Goes through the works in the order in which the chart's nodes were given their ids. */
class Reading {
  private next = 0;

  constructor(
    private readonly chart: Chart,
    private readonly names: Names,
  ) {}

  get isDone(): boolean {
    return this.next === this.chart.nodes.length;
  }

  private take(): ChartNode {
    const node = this.chart.nodes[this.next];
    if (node === undefined || node.id !== this.next) throw new Unlike();
    this.next += 1;
    return node;
  }

  private sign(mark: Mark): Sign {
    const node = this.take();
    if (node.hint !== mark) throw new Unlike();
    return { key: `n${node.id}`, mark };
  }

  work(work: Work, asks: boolean): Block {
    switch (work.kind) {
      case "Ref":
        return this.step(work, asks);
      case "Seq":
        return this.seq(work.works, asks);
      case "Par":
        return this.par(work.works, asks);
      case "Loop":
        return this.loop(work, asks);
      case "Alt":
        return this.alt(work, asks);
      default:
        throw new Unlike();
    }
  }

  private step(work: Extract<Work, { kind: "Ref" }>, asks: boolean): Step {
    const node = this.take();
    if (typeof node.hint === "string" || node.hint[1] !== work.workIdInJob) throw new Unlike();
    return {
      kind: "step",
      key: `n${node.id}`,
      shape: node.hint[0],
      work: work.workIdInJob,
      task: work.taskId,
      label: node.label ?? work.taskId,
      name: this.names[work.workIdInJob] ?? node.label ?? work.taskId,
      asks,
      ...(node.broken == null ? {} : { broken: node.broken }),
    };
  }

  private seq(works: readonly Work[], asks: boolean): Block {
    return { kind: "seq", parts: works.map((part) => this.work(part, asks)) };
  }

  private par(works: readonly Work[], asks: boolean): Block {
    const begin = this.sign("ParBegin");
    const parts = works.map((part) => this.work(part, asks));
    return { kind: "par", key: begin.key, begin, parts, end: this.sign("ParEnd") };
  }

  private condition(work: Work): Block {
    if (work.kind !== "Seq" || work.works.length < 2) return this.work(work, true);
    const begin = this.sign("CondBegin");
    const inside = this.seq(work.works, true);
    return { kind: "cond", key: begin.key, begin, inside, end: this.sign("CondEnd") };
  }

  private loop(work: Extract<Work, { kind: "Loop" }>, asks: boolean): Block {
    const before = work.preCondition ? this.condition(work.preCondition[1]) : null;
    const body = this.work(work.body, asks);
    const after = work.postCondition ? this.condition(work.postCondition[1]) : null;
    const end = this.sign("LoopEnd");
    return {
      kind: "loop",
      key: end.key,
      before,
      body,
      after,
      end,
      enters: labelOf(work.preCondition?.[0] ?? true),
      repeats: labelOf(work.postCondition?.[0] ?? true),
    };
  }

  private alt(work: Extract<Work, { kind: "Alt" }>, asks: boolean): Block {
    const condition = this.condition(work.condition);
    const yes = work.trueWork ? this.work(work.trueWork, asks) : null;
    const no = work.falseWork ? this.work(work.falseWork, asks) : null;
    const end = this.sign("AltEnd");
    return { kind: "alt", key: end.key, condition, yes, no, end };
  }
}

/** The blocks directly inside one, in the order of the chart. */
export function partsOf(block: Block): readonly Block[] {
  switch (block.kind) {
    case "step":
    case "stack":
    case "tiles":
      return [];
    case "seq":
    case "par":
      return block.parts;
    case "cond":
      return [block.inside];
    case "loop":
      return [block.before, block.body, block.after].filter((part) => part !== null);
    case "alt":
      return [block.condition, block.yes, block.no].filter((part) => part !== null);
  }
}

export function stepsOf(block: Block): readonly Step[] {
  if (block.kind === "step") return [block];
  if (block.kind === "stack" || block.kind === "tiles") return block.steps;
  return partsOf(block).flatMap(stepsOf);
}

/** How many nodes stand for something: marks cost nothing beside them. */
export function sizeOf(block: Block): number {
  const inside = partsOf(block).reduce((sum, part) => sum + sizeOf(part), 0);
  if (block.kind === "tiles") return block.steps.length;
  return block.kind === "step" || block.kind === "stack" ? 1 : inside;
}

/** The steps whose outcome a condition has; none where it is more than a sequence of them. */
export function deciding(block: Block): readonly Step[] {
  const inside = block.kind === "cond" ? block.inside : block;
  const parts = inside.kind === "seq" ? inside.parts : [inside];
  return parts.every((part) => part.kind === "step") ? parts : [];
}
