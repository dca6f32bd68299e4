/** Where times lie on the timeline. Long stretches in which nothing happened are cut out. */

export type Span = { from: number; to: number };
export type Cut = Span & { x: number; width: number };
export type Tick = { x: number; after: number };

export type Scale = {
  x: (at: number) => number;
  cuts: readonly Cut[];
  ticks: readonly Tick[];
};

const CUT_WIDTH = 34;
const SHORTEST_CUT_MS = 60_000;
/** A gap that takes more of the whole than this is cut out. */
const LARGEST_SHARE = 0.2;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 150, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];

export function scaleOf(busy: readonly Span[], whole: Span, left: number, width: number): Scale {
  const gaps = gapsOf(busy, whole);
  const length = Math.max(1, whole.to - whole.from);
  const cutOut = gaps.filter(
    (gap) => lengthOf(gap) >= SHORTEST_CUT_MS && lengthOf(gap) > length * LARGEST_SHARE,
  );
  const kept = Math.max(1, length - cutOut.reduce((sum, gap) => sum + lengthOf(gap), 0));
  const perMs = Math.max(1, width - cutOut.length * CUT_WIDTH) / kept;
  const x = (at: number): number => {
    let passed = Math.min(Math.max(at, whole.from), whole.to) - whole.from;
    let cuts = 0;
    for (const gap of cutOut) {
      if (at >= gap.to) {
        passed -= lengthOf(gap);
        cuts += 1;
      } else if (at > gap.from) {
        const share = (at - gap.from) / lengthOf(gap);
        passed -= at - gap.from;
        cuts += share;
        break;
      }
    }
    return left + passed * perMs + cuts * CUT_WIDTH;
  };
  const cuts = cutOut.map((gap) => ({ ...gap, x: x(gap.from), width: CUT_WIDTH }));
  return { x, cuts, ticks: ticksOf(whole, kept, width, x, cutOut) };
}

const lengthOf = (span: Span) => span.to - span.from;

/** Where nothing was busy, in order. */
export function gapsOf(busy: readonly Span[], whole: Span): Span[] {
  const gaps: Span[] = [];
  let reached = whole.from;
  for (const span of busy.toSorted((one, two) => one.from - two.from)) {
    if (span.from > reached) gaps.push({ from: reached, to: Math.min(span.from, whole.to) });
    reached = Math.max(reached, span.to);
  }
  if (reached < whole.to) gaps.push({ from: reached, to: whole.to });
  return gaps.filter((gap) => gap.to > gap.from);
}

function ticksOf(
  whole: Span,
  kept: number,
  width: number,
  x: (at: number) => number,
  cuts: readonly Span[],
): Tick[] {
  const wanted = Math.max(2, Math.floor(width / 90));
  const step = (STEPS.find((one) => one * 1000 * wanted >= kept) ?? 86_400) * 1000;
  const ticks: Tick[] = [];
  for (let after = 0; after <= lengthOf(whole) && ticks.length < 400; after += step) {
    const at = whole.from + after;
    const isCut = cuts.some((cut) => at > cut.from && at < cut.to);
    const last = ticks.at(-1);
    if (!isCut && (last === undefined || x(at) - last.x >= 60)) ticks.push({ x: x(at), after });
  }
  return ticks;
}

/** The moment at a place: what `x` does, the other way round. */
export function timeAt({ x }: Pick<Scale, "x">, whole: Span, place: number): number {
  let [from, to] = [whole.from, whole.to];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (x(middle) < place) from = middle;
    else to = middle;
  }
  return to;
}

/** How long a cut is, in words. */
export function cutInWords(cut: Span): string {
  const minutes = Math.round(lengthOf(cut) / 60_000);
  if (minutes < 120) return `${minutes} min cut out`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h cut out` : `${Math.round(hours / 24)} days cut out`;
}
