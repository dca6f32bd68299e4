/** The arrows of the chart, below its nodes. */

import { useMemo } from "preact/hooks";
import { useKept } from "./kept";
import { UNSAID } from "./roles";
import type { Line, Point } from "./shapes";
import { isTaken, type Progress } from "./states";

type Props = {
  lines: readonly Line[];
  progress: Progress;
  isIn: (x: number, y: number, width: number, height: number) => boolean;
  far: boolean;
};

export function Arrows({ lines, progress, isIn, far }: Props) {
  const keep = useKept(lines);
  const areas = useMemo(() => lines.map((line) => areaOf(line.points)), [lines]);
  const shown = lines.filter(
    ({ points }, at) => points.length > 0 && isIn(...(areas[at] ?? NOWHERE)),
  );
  return (
    <g {...UNSAID}>
      {shown.map((line) => {
        const key = `${line.from} ${line.to} ${line.label} ${line.loopBack}`;
        const off = isTaken(line, progress) === false;
        return keep(key, `${off} ${far}`, () => (
          <Arrow key={key} line={line} off={off} far={far} />
        ));
      })}
    </g>
  );
}

type Area = [x: number, y: number, width: number, height: number];

const NOWHERE: Area = [0, 0, 0, 0];
const EDGE = 20;

function areaOf(points: readonly Point[]): Area {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs) - EDGE, Math.min(...ys) - EDGE];
  return [x, y, Math.max(...xs) + EDGE - x, Math.max(...ys) + EDGE - y];
}

function Arrow({ line, off, far }: { line: Line; off: boolean; far: boolean }) {
  const words = line.skips > 0 ? `${line.skips} hidden` : line.label;
  const at = line.at ?? (line.skips > 0 ? middle(line.points) : null);
  const isOff = off || line.skips > 0;
  return (
    <>
      <path class={isOff ? "arr off" : "arr"} d={way(line.points)} />
      <path class="head" d={head(line.points)} />
      {!far && words !== null && at !== null && (
        <>
          <rect
            class="lblbg"
            x={at[0] - words.length * 3.2 - 4}
            y={at[1] - 8}
            width={words.length * 6.4 + 8}
            height="15"
          />
          <text class="lbl" x={at[0]} y={at[1] + 3.5}>
            {words}
          </text>
        </>
      )}
    </>
  );
}

function middle(points: readonly Point[]): Point {
  const [start, end] = [points[0], points.at(-1)];
  return [end?.[0] ?? 0, ((start?.[1] ?? 0) + (end?.[1] ?? 0)) / 2 - 2];
}

const HEAD = 9;

/** Ends where its head begins, so that no line looks out of the tip. */
function way(points: readonly Point[]): string {
  const [from, to] = points.slice(-2);
  if (from === undefined || to === undefined) return "";
  const [dx, dy] = [Math.sign(to[0] - from[0]), Math.sign(to[1] - from[1])];
  const end: Point = [to[0] - dx * (HEAD - 2), to[1] - dy * (HEAD - 2)];
  return [...points.slice(0, -1), end]
    .map(([x, y], at) => `${at === 0 ? "M" : "L"}${x} ${y}`)
    .join("");
}

function head(points: readonly Point[]): string {
  const [from, to] = points.slice(-2);
  if (from === undefined || to === undefined) return "";
  const [x, y] = to;
  const [dx, dy] = [Math.sign(x - from[0]), Math.sign(y - from[1])];
  const [backX, backY] = [x - dx * HEAD, y - dy * HEAD];
  return `M${x} ${y}L${backX - dy * 4.5} ${backY - dx * 4.5}L${backX + dy * 4.5} ${backY + dx * 4.5}z`;
}
