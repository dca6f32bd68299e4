/** One node of the chart: its shape, its words, its marks. */

import { visible } from "../words";
import { nameOf } from "./blocks";
import { button, item } from "./roles";
import { type Box, shown } from "./shapes";
import type { Shown } from "./states";

const HAND =
  "M5 8.6V4.2a1 1 0 0 1 2 0V7M7 7V3a1 1 0 0 1 2 0v4M9 7V3.8a1 1 0 0 1 2 0V8M11 8V5.6a1 1 0 0 1 2 0V10c0 2.6-1.8 4.2-4.2 4.2-2 0-3-.9-4-2.5L3.1 9.3a1 1 0 0 1 1.7-1.1";

type Props = {
  box: Box;
  /** Null in a preview. */
  told: Shown | null;
  sub: string;
  selected: boolean;
  /** Null where a click does nothing. */
  label: string | null;
  focusable: boolean;
  place: number;
  places: number;
  /** Too small for words. */
  far: boolean;
};

export function ChartNode(props: Props) {
  const { box, told, selected, label, focusable, place, places } = props;
  if (box.of === null) return <MarkShape box={box} />;
  const look = told?.look ?? "preview";
  const classes = [
    "node",
    look === "not started" && "todo",
    look === "not run" && "nr",
    look === "waiting" && "wait",
    told?.sign === "running" && "run",
    selected && "sel",
    box.of.kind === "step" && box.of.broken !== undefined && "broken",
    box.tile !== undefined && "tile",
    box.tile !== undefined && look === "failed" && "bad",
    told?.forYou && box.tile !== undefined && "asks",
  ];
  return (
    <g {...item(place, places)}>
      <g
        class={classes.filter(Boolean).join(" ")}
        data-key={box.key}
        {...(label === null ? {} : button({ label, pressed: selected, focusable }))}
      >
        {box.tile === undefined ? <Drawn {...props} /> : <Tile {...props} />}
      </g>
    </g>
  );
}

const TILE_SIGNS: Record<string, string> = {
  tick: "M0 0l3 3.2 5.6-6.6",
  cross: "M.6 -3l6 6M6.6 -3l-6 6",
  running: "M.8 -4l6.6 4-6.6 4z",
  clock: "M3.6 -4.4a4.4 4.4 0 1 0 .01 0M3.6 -2V.4l1.8 1.2",
  hand: HAND,
};

/** A small one in a grid: a sign and a short name. */
function Tile({ box, told, selected, far }: Props) {
  const { x, y, width, height } = box;
  const sign = told?.forYou ? "hand" : (told?.sign ?? null);
  const isHand = sign === "hand";
  return (
    <>
      {selected && (
        <rect class="selring" x={x - 4} y={y - 4} width={width + 8} height={height + 8} rx="6" />
      )}
      <rect class="task" x={x} y={y} width={width} height={height} rx="4" />
      {sign !== null && TILE_SIGNS[sign] !== undefined && (
        <path
          class={isHand ? "youi" : `ts-${sign}`}
          d={TILE_SIGNS[sign]}
          transform={
            isHand
              ? `translate(${x + 5} ${y + 6}) scale(.85)`
              : `translate(${x + 8} ${y + height / 2})`
          }
        />
      )}
      {!far && (
        <text class="ttx" x={x + 22} y={y + 17.5}>
          {visible(box.tile ?? "")}
        </text>
      )}
    </>
  );
}

function Drawn({ box, told, sub, selected, far }: Props) {
  const { x, y, width, height, of } = box;
  if (of === null) return null;
  const isTask = box.kind === "TaskNode";
  const middle = x + width / 2;
  const words = shown(visible(nameOf(of)));
  const textClass = isTask ? "ttx" : "ctx";
  return (
    <>
      {selected && (
        <rect class="selring" x={x - 6} y={y - 6} width={width + 12} height={height + 12} rx="8" />
      )}
      {of.kind === "stack" && (
        <>
          <rect class="task back" x={x + 10} y={y - 10} width={width} height={height} rx="4" />
          <rect class="task back" x={x + 5} y={y - 5} width={width} height={height} rx="4" />
        </>
      )}
      {isTask ? (
        <rect class="task" x={x} y={y} width={width} height={height} rx="4" />
      ) : (
        <path class="cond" d={hexagon(box)} />
      )}
      {!far && (
        <text class={textClass} x={middle} y={sub === "" ? y + 26.5 : y + 20}>
          {words !== visible(nameOf(of)) && <title>{visible(nameOf(of))}</title>}
          <Words words={words} />
        </text>
      )}{" "}
      {!far && sub !== "" && (
        <text class={`sub ${isTask ? "tsub" : "csub"}`} x={middle} y={y + 36}>
          {sub}
        </text>
      )}{" "}
      {told !== null && <LeftMark x={x} y={y + height / 2} told={told} />}
      {told?.forYou && (
        <g>
          <circle class="you" cx={x + width - 2} cy={y} r="10" />
          <path
            class="youi"
            d={HAND}
            transform={`translate(${x + width - 9} ${y - 7.4}) scale(.88)`}
          />
        </g>
      )}
    </>
  );
}

/** What tells a task apart from another of the same name stands back. */
function Words({ words }: { words: string }) {
  const at = words.indexOf(" · ");
  if (at < 0) return <>{words}</>;
  return (
    <>
      {words.slice(0, at)}
      <tspan class="qual">{words.slice(at)}</tspan>
    </>
  );
}

function LeftMark({ x, y, told }: { x: number; y: number; told: Shown }) {
  if (told.sign === null) return null;
  if (told.sign === "true" || told.sign === "false") {
    return (
      <g>
        <rect class="mk" x={x - 20} y={y - 9} width="40" height="18" rx="9" />
        <text class="mkp" x={x} y={y + 4}>
          {told.sign}
        </text>
      </g>
    );
  }
  return (
    <g>
      <circle class={told.sign === "clock" ? "mk mkd" : "mk"} cx={x} cy={y} r="10" />
      {told.sign === "clock" && <path class="mkw" d={`M${x} ${y - 5}V${y}l3.4 2.2`} />}
      {told.sign === "running" && <path class="mkr" d={`M${x - 3.6} ${y - 5.4}l9 5.4-9 5.4z`} />}
      {told.sign === "tick" && <path class="mkt" d={`M${x - 4.5} ${y + 0.3}l3 3.4 6-7`} />}
      {told.sign === "cross" && (
        <path class="mkx" d={`M${x - 3.6} ${y - 3.6}l7.2 7.2M${x + 3.6} ${y - 3.6}l-7.2 7.2`} />
      )}
    </g>
  );
}

function MarkShape({ box }: { box: Box }) {
  const { x, y, width, height, kind } = box;
  switch (kind) {
    case "LoopEnd":
      return <circle class="loop" cx={x + width / 2} cy={y + height / 2} r={width / 2} />;
    case "CondEnd": {
      const [w, h] = [width / 2, height / 2];
      return <path class="cond" d={`M${x + w} ${y}l${w} ${h}l-${w} ${h}l-${w} -${h}z`} />;
    }
    default: {
      const look = kind === "AltEnd" ? "alt" : kind === "CondBegin" ? "cbar" : "par";
      return <rect class={look} x={x} y={y} width={width} height={height} rx="2" />;
    }
  }
}

function hexagon({ x, y, width, height }: Box): string {
  const half = height / 2;
  const inner = width - 32;
  return `M${x} ${y + half}l16 -${half}h${inner}l16 ${half}l-16 ${half}h-${inner}z`;
}
