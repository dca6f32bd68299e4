/** The difference of two texts, line by line, as a unified diff. Pure. */

const AROUND = 3;

type Row = { sign: " " | "-" | "+"; text: string };

export function diffOf(before: string, after: string): string {
  const rows = rowsOf(linesOf(before), linesOf(after));
  const hunks: string[] = [];
  let [old, now] = [1, 1];
  let at = 0;
  while (at < rows.length) {
    const first = rows.findIndex((row, place) => place >= at && row.sign !== " ");
    if (first === -1) break;
    const start = Math.max(at, first - AROUND);
    old += start - at;
    now += start - at;
    const end = endOf(rows, first);
    const shown = rows.slice(start, end);
    const removed = shown.filter(({ sign }) => sign !== "+").length;
    const added = shown.filter(({ sign }) => sign !== "-").length;
    hunks.push(`@@ -${old},${removed} +${now},${added} @@`);
    hunks.push(...shown.map(({ sign, text }) => sign + text));
    old += removed;
    now += added;
    at = end;
  }
  return hunks.length === 0 ? "" : `--- a\n+++ b\n${hunks.join("\n")}\n`;
}

const linesOf = (text: string): readonly string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");

/** Behind the last change that is near enough to the one before. */
function endOf(rows: readonly Row[], first: number): number {
  let last = first;
  for (let at = first; at < rows.length && at - last <= 2 * AROUND; at += 1) {
    if (rows[at]?.sign !== " ") last = at;
  }
  return Math.min(rows.length, last + 1 + AROUND);
}

function rowsOf(before: readonly string[], after: readonly string[]): Row[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const least = Math.min(before.length, after.length) - head;
  while (tail < least && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]) => lines.map((text): Row => ({ sign: " ", text }));
  return [
    ...same(before.slice(0, head)),
    ...changed(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

const MOST = 4_000_000;

/** By the longest lines in common; where there are too many, all of one and then all of the other. */
function changed(before: readonly string[], after: readonly string[]): Row[] {
  const gone = before.map((text): Row => ({ sign: "-", text }));
  const come = after.map((text): Row => ({ sign: "+", text }));
  if (before.length * after.length > MOST) return [...gone, ...come];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (a: number, b: number) => common[a * width + b] ?? 0;
  for (let a = before.length - 1; a >= 0; a -= 1) {
    for (let b = after.length - 1; b >= 0; b -= 1) {
      common[a * width + b] =
        before[a] === after[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1));
    }
  }
  const rows: Row[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    const [one, other] = [gone[a], come[b]];
    if (one !== undefined && one.text === other?.text) {
      rows.push({ sign: " ", text: one.text });
      a += 1;
      b += 1;
    } else if (one !== undefined && (other === undefined || at(a + 1, b) >= at(a, b + 1))) {
      rows.push(one);
      a += 1;
    } else if (other !== undefined) {
      rows.push(other);
      b += 1;
    }
  }
  return rows;
}
