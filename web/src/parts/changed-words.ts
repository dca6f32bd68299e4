/** Which words of a line were changed: what two lines have in common at both ends is left out. Pure. */

import type { DiffLine } from "./unified";

/** From where to where, in the line's text. */
export type Range = { from: number; to: number };

const LONGEST = 2_000;
const WORD = /[\p{L}\p{N}_]/u;

/** The ranges of the lines that stand for each other, by the lines' places. */
export function changedWords(lines: readonly DiffLine[]): ReadonlyMap<number, Range> {
  const found = new Map<number, Range>();
  for (const [old, now] of pairsOf(lines)) {
    const ranges = between(lines[old]?.text ?? "", lines[now]?.text ?? "");
    if (ranges === null) continue;
    if (ranges[0].from < ranges[0].to) found.set(old, ranges[0]);
    if (ranges[1].from < ranges[1].to) found.set(now, ranges[1]);
  }
  return found;
}

/** The places of removed lines with those of the added ones right behind them, one by one. */
export function pairsOf(lines: readonly DiffLine[]): [number, number][] {
  const pairs: [number, number][] = [];
  let removed: number[] = [];
  let used = 0;
  for (const [place, { kind }] of lines.entries()) {
    if (kind === "removed") {
      if (used > 0) [removed, used] = [[], 0];
      removed.push(place);
    } else if (kind === "added") {
      const old = removed[used];
      if (old !== undefined) pairs.push([old, place]);
      used += 1;
    } else [removed, used] = [[], 0];
  }
  return pairs;
}

/** Null where the lines have so little in common that the whole line was changed. */
function between(old: string, now: string): [Range, Range] | null {
  if (old === now || Math.max(old.length, now.length) > LONGEST) return null;
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  start = atWord(old, now, start);
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  end = beforeWord(old, now, end);
  const same = old.slice(0, start) + old.slice(old.length - end);
  if (!/[\p{L}\p{N}]/u.test(same)) return null;
  return [
    { from: start, to: old.length - end },
    { from: start, to: now.length - end },
  ];
}

const isInside = (text: string, at: number): boolean =>
  at > 0 && at < text.length && WORD.test(text[at - 1] ?? "") && WORD.test(text[at] ?? "");

const isHalf = (text: string, at: number): boolean => /[\udc00-\udfff]/.test(text[at] ?? "");

/** Back to where a word begins: half a word is hard to read. */
function atWord(old: string, now: string, from: number): number {
  let at = from;
  while (at > 0 && (isInside(old, at) || isInside(now, at) || isHalf(old, at) || isHalf(now, at))) {
    at -= 1;
  }
  return at;
}

function beforeWord(old: string, now: string, from: number): number {
  let end = from;
  const isCut = (text: string) =>
    isInside(text, text.length - end) || isHalf(text, text.length - end);
  while (end > 0 && (isCut(old) || isCut(now))) end -= 1;
  return end;
}
