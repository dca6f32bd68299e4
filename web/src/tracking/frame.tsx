/** The frame around tiles: what they are, how many are how, and a bar of it. */

import { visible } from "../words";
import { UNSAID } from "./roles";
import type { TileFrame } from "./shapes";
import { type Look, type Progress, talliesOf } from "./states";

const LOOKS: readonly (readonly [Look, string])[] = [
  ["succeeded", "s-ok"],
  ["failed", "s-bad"],
  ["waiting for you", "s-you"],
  ["running", "s-run"],
];

type Props = { frame: TileFrame; progress: Progress; isOver: boolean; far: boolean };

export function Frame({ frame, progress, isOver, far }: Props) {
  const { x, y, width, height, tiles } = frame;
  const counts = talliesOf(tiles.steps, progress, isOver);
  const bar = width - 24;
  let from = x + 12;
  return (
    <g {...UNSAID}>
      <rect class="frame" x={x} y={y} width={width} height={height} rx="6" />
      {!far && (
        <text class="ghead" x={x + 12} y={y + 20}>
          {visible(tiles.label)}
          <tspan class="gsub" dx="12">
            {[...counts].map(([look, count]) => `${count} ${look}`).join(" · ")}
          </tspan>
        </text>
      )}
      <rect class="s-wait" x={from} y={y + 29} width={bar} height="4" rx="2" />
      {LOOKS.map(([look, name]) => {
        const part = (bar * (counts.get(look) ?? 0)) / tiles.steps.length;
        const begin = from;
        from += part;
        return (
          part > 0 && <rect key={name} class={name} x={begin} y={y + 29} width={part} height="4" />
        );
      })}
    </g>
  );
}
