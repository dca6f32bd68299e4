/** A unified diff from A to B as two columns of equal length. Pure. */

import { type DiffLine, filesOf } from "../parts/unified";

export type Side = { number: number | null; text: string; look: "same" | "own" | "void" | "head" };
export type Pair = { a: Side; b: Side };

const NOTHING: Side = { number: null, text: "", look: "void" };

export function pairsOf(diff: string): Pair[] {
  const pairs: Pair[] = [];
  let left: DiffLine[] = [];
  let right: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      const [a, b] = [left[at], right[at]];
      pairs.push({
        a: a === undefined ? NOTHING : { number: a.before, text: a.text, look: "own" },
        b: b === undefined ? NOTHING : { number: b.after, text: b.text, look: "own" },
      });
    }
    left = [];
    right = [];
  };
  for (const line of filesOf(diff).flatMap((file) => file.lines)) {
    if (line.kind === "removed") left.push(line);
    else if (line.kind === "added") right.push(line);
    else {
      flush();
      const look = line.kind === "head" ? "head" : "same";
      pairs.push({
        a: { number: line.before, text: line.text, look },
        b: { number: line.after, text: line.text, look },
      });
    }
  }
  flush();
  return pairs;
}
