/** Lays out a chart of which the nesting is not known, with dagre: whatever the server draws, the
    page shows. It is loaded when such a chart comes. */

import { Graph, layout } from "@dagrejs/dagre";
import type { Chart, ChartNode, Step } from "./blocks";
import { type Box, type Layout, type Line, NODE_HEIGHT, type Point, widthOf } from "./shapes";

const MARGIN = 28;

export function layOutGraph(chart: Chart): Layout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 30, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of chart.nodes) {
    const [width, height] = sizeOf(node);
    graph.setNode(`n${node.id}`, { width, height });
  }
  for (const node of chart.nodes) {
    for (const arrow of node.arrows ?? []) {
      // A way back has no say in what stands above what.
      if (!arrow.loopBack) graph.setEdge(`n${node.id}`, `n${arrow.to}`, {}, arrow.label ?? "way");
    }
  }
  layout(graph);
  const boxes = chart.nodes.map((node) => boxOf(node, graph.node(`n${node.id}`)));
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const lines = chart.nodes.flatMap((node) => linesOf(node, byKey, right));
  return {
    width: right + 2 * MARGIN,
    height: Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN,
    boxes,
    lines,
    frames: [],
  };
}

const kindOf = (node: ChartNode) => (typeof node.hint === "string" ? node.hint : node.hint[0]);

function sizeOf(node: ChartNode): readonly [number, number] {
  if (typeof node.hint !== "string") {
    return [widthOf(node.label ?? "", node.hint[0]), NODE_HEIGHT];
  }
  if (node.hint === "LoopEnd") return [20, 20];
  if (node.hint === "CondEnd") return [52, 36];
  return [120, 8];
}

function boxOf(node: ChartNode, at: { x: number; y: number; width: number; height: number }): Box {
  return {
    key: `n${node.id}`,
    kind: kindOf(node),
    x: at.x - at.width / 2,
    y: at.y - at.height / 2,
    width: at.width,
    height: at.height,
    of: stepOf(node),
  };
}

export function stepOf(node: ChartNode): Step | null {
  if (typeof node.hint === "string") return null;
  const [shape, work] = node.hint;
  const label = node.label ?? "";
  const asks = shape === "CondNode";
  const step = { key: `n${node.id}`, shape, work, task: label, label, name: label, asks };
  return { kind: "step", ...step, ...(node.broken == null ? {} : { broken: node.broken }) };
}

function linesOf(node: ChartNode, boxes: ReadonlyMap<string, Box>, right: number): Line[] {
  const from = boxes.get(`n${node.id}`);
  return (node.arrows ?? []).flatMap((arrow) => {
    const to = boxes.get(`n${arrow.to}`);
    if (from === undefined || to === undefined) return [];
    const points = arrow.loopBack ? back(from, to, right + 24) : down(from, to);
    const [start, turn] = points;
    const at: Point | null =
      arrow.label && start && turn ? [turn[0], (turn[1] + (points[2] ?? turn)[1]) / 2] : null;
    const { loopBack, label = null } = arrow;
    return { from: from.key, to: to.key, points, label, loopBack, at, decidedBy: [], skips: 0 };
  });
}

const middle = (box: Box) => box.x + box.width / 2;
const level = (box: Box) => box.y + box.height / 2;

function down(from: Box, to: Box): Point[] {
  const turn = from.y + from.height + 10;
  const start: Point = [middle(from), from.y + from.height];
  if (middle(from) === middle(to)) return [start, [middle(to), to.y]];
  return [start, [middle(from), turn], [middle(to), turn], [middle(to), to.y]];
}

const back = (from: Box, to: Box, x: number): Point[] => [
  [from.x + from.width, level(from)],
  [x, level(from)],
  [x, level(to)],
  [to.x + to.width, level(to)],
];
