/** One node of the chart: its shape, its words, its marks. */

import { visible } from "../words";
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
    look === "not yet" && "todo",
    told?.sign === "running" && look !== "waiting" && "run",
    selected && "sel",
  ];
  return (
    <g {...item(place, places)}>
      <g
        class={classes.filter(Boolean).join(" ")}
        data-key={box.key}
        {...(label === null ? {} : button({ label, pressed: selected, focusable }))}
      >
        <Drawn {...props} />
      </g>
    </g>
  );
}

function Drawn({ box, told, sub, selected, far }: Props) {
  const { x, y, width, height, of } = box;
  if (of === null) return null;
  const isTask = box.kind === "TaskNode";
  const middle = x + width / 2;
  const words = shown(visible(of.label));
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
          {words !== visible(of.label) && <title>{visible(of.label)}</title>}
          {words}
        </text>
      )}{" "}
      {!far && sub !== "" && (
        <text class={`sub ${isTask ? "tsub" : "csub"}`} x={middle} y={y + 36}>
          {sub}
        </text>
      )}
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

function LeftMark({ x, y, told }: { x: number; y: number; told: Shown }) {
  if (told.sign === null) return null;
  return (
    <g>
      <circle class="mk" cx={x} cy={y} r="10" />
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
