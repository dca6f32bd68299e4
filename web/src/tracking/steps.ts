/** The ways through a chart for those who go by keys and for those who listen. Pure. */

import type { Box, Layout, Line } from "./shapes";

export type Next = { to: Box; word: "then" | "if true" | "if false" | "back to" };

export type Ways = {
  /** Nodes that can be chosen, from the top to the bottom and from the left to the right. */
  order: readonly Box[];
  after: (key: string) => readonly Next[];
  before: (key: string) => readonly Box[];
};

const MOST_WAYS = 3;

/** Through the marks, which nobody stops at. */
export function waysOf(layout: Layout): Ways {
  const boxes = new Map(layout.boxes.map((box) => [box.key, box]));
  const leaving = grouped(layout.lines, (line) => line.from);
  const arriving = grouped(layout.lines, (line) => line.to);
  const order = layout.boxes
    .filter((box) => box.of !== null)
    .toSorted((one, two) => one.y - two.y || one.x - two.x);

  const after = (key: string): Next[] => {
    const found: Next[] = [];
    const seen = new Set([key]);
    const go = (from: string, word: Next["word"]) => {
      for (const line of leaving.get(from) ?? []) {
        const said = line.loopBack ? "back to" : line.label ? (`if ${line.label}` as const) : word;
        const box = boxes.get(line.to);
        if (box === undefined) continue;
        if (box.of !== null) found.push({ to: box, word: said });
        else if (!seen.has(box.key)) {
          seen.add(box.key);
          go(box.key, said);
        }
      }
    };
    go(key, "then");
    return found;
  };
  const before = (key: string): Box[] => {
    const found: Box[] = [];
    const seen = new Set([key]);
    const go = (to: string) => {
      for (const line of arriving.get(to) ?? []) {
        const box = boxes.get(line.from);
        if (box === undefined || line.loopBack || seen.has(box.key)) continue;
        seen.add(box.key);
        if (box.of !== null) found.push(box);
        else go(box.key);
      }
    };
    go(key);
    return found;
  };
  return { order, after, before };
}

function grouped(lines: readonly Line[], by: (line: Line) => string): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const group = groups.get(by(line));
    if (group === undefined) groups.set(by(line), [line]);
    else group.push(line);
  }
  return groups;
}

const isBack = (next: Next) => next.word === "back to";

/** Where a key leads from a node; null where it leads nowhere. */
export function stepped(ways: Ways, from: Box, key: string): Box | null {
  const at = ways.order.findIndex((box) => box.key === from.key);
  switch (key) {
    case "ArrowDown":
      return ways.after(from.key).find((next) => !isBack(next))?.to ?? null;
    case "ArrowUp":
      return ways.before(from.key)[0] ?? null;
    case "ArrowLeft":
    case "ArrowRight":
      return beside(ways.order, from, key === "ArrowRight" ? 1 : -1);
    case "Home":
      return at === 0 ? null : (ways.order[0] ?? null);
    case "End":
      return ways.order.at(-1) ?? null;
    default:
      return null;
  }
}

/** The nearest at the same height. */
function beside(order: readonly Box[], from: Box, by: 1 | -1): Box | null {
  let best: Box | null = null;
  for (const box of order) {
    const overlaps = box.y < from.y + from.height && from.y < box.y + box.height;
    const distance = (box.x - from.x) * by;
    if (!overlaps || distance <= 0) continue;
    if (best === null || distance < (best.x - from.x) * by) best = box;
  }
  return best;
}

/** What follows a node, in a sentence. */
export function afterInWords(ways: Ways, key: string, name: (box: Box) => string): string {
  const next = ways.after(key);
  if (next.length === 0) return "This is the last node.";
  const ahead = next.slice(0, MOST_WAYS).map(({ word, to }) => `${word} ${name(to)}`);
  const rest = next.length > MOST_WAYS ? ` and ${next.length - MOST_WAYS} more` : "";
  const said = ahead.join(", ") + rest;
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}
