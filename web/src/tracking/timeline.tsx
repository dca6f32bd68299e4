/** The timeline: a row for each node, a segment for each attempt or round. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RunDetail } from "../api/types.gen";
import type { TaskState } from "../state/types";
import { duration, visible } from "../words";
import { AXIS, Axis } from "./axis";
import type { Block } from "./blocks";
import { busyOf, type GanttRow, type Place, placesOf, rowOf, type Segment } from "./gantt";
import { useKept } from "./kept";
import type { Player } from "./player";
import { button, GROUP, pressing, UNSAID } from "./roles";
import type { Wait } from "./said";
import { type Progress, roundsOf } from "./states";
import { cutInWords, type Scale, scaleOf } from "./timescale";

const ROW = 22;
const HEAD = 4;
const LEFT = 16;
const NAMES = 136;
const EDGE = 34;
const AROUND = 8;

type Props = {
  run: RunDetail;
  block: Block;
  progress: Progress;
  waits: readonly Wait[];
  task: TaskState | null;
  now: number;
  selected: number | null;
  /** Which of its executions is; null is the last one. */
  iteration: number | null;
  reveal: boolean;
  player: Player;
  onSelect: (row: GanttRow, segment: Segment | null) => void;
};

export function Timeline(props: Props) {
  const { run, block, progress, waits, task, now, selected, iteration, reveal, player } = props;
  const room = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 600, height: 240, top: 0 });
  const all = useMemo(() => placesOf(block, progress), [block, progress]);
  const look = () => {
    const { current } = room;
    if (current === null) return;
    const next = {
      width: current.clientWidth,
      height: current.clientHeight,
      top: current.scrollTop,
    };
    const old = size.value;
    const isNear = Math.abs(next.top - old.top) < (AROUND / 2) * ROW;
    if (!isNear || next.width !== old.width || next.height !== old.height) size.value = next;
  };
  useLayoutEffect(look, []);
  useEffect(() => {
    const watcher = new ResizeObserver(look);
    if (room.current !== null) watcher.observe(room.current);
    return () => watcher.disconnect();
  }, []);
  const place = useMemo(
    () => placeOf(all, progress, selected, iteration),
    [all, progress, selected, iteration],
  );
  useEffect(() => {
    const { current } = room;
    if (!reveal || place < 0 || current === null) return;
    const top = HEAD + place * ROW;
    const left = current.clientHeight - AXIS;
    if (top < current.scrollTop + HEAD) current.scrollTop = top - HEAD;
    else if (top + ROW > current.scrollTop + left) current.scrollTop = top + ROW - left;
  }, [selected, iteration]);

  const { width, height, top } = size.value;
  const end = run.ended_at ?? Math.max(now, run.updated_at);
  const { whole, scale } = useMemo(() => {
    const whole = { from: run.created_at, to: Math.max(end, run.created_at + 1_000) };
    const room = Math.max(120, width - NAMES - EDGE);
    return { whole, scale: scaleOf(busyOf(run, end), whole, NAMES, room) };
  }, [run, end, width]);
  const x = scale.x(player.at ?? end);
  const first = Math.max(0, Math.floor((top - HEAD) / ROW) - AROUND);
  const shown = all.slice(first, first + Math.ceil(height / ROW) + 2 * AROUND);
  const tall = HEAD + all.length * ROW + 6;
  const rowAt = useMemo(() => {
    const rows = new Map<string, GanttRow>();
    return (at: Place) => {
      const row = rows.get(at.key) ?? rowOf(at, { progress, waits, now: end, task });
      rows.set(at.key, row);
      return row;
    };
  }, [progress, waits, end, task, all]);
  const keep = useKept(rowAt);
  return (
    <div class="gantt" ref={room} onScroll={look}>
      <Axis
        run={run}
        whole={whole}
        scale={scale}
        width={width}
        left={NAMES}
        waits={waits}
        player={player}
      />
      <svg width={width} height={tall} {...GROUP} aria-label="Timeline of the run">
        <defs>
          <pattern
            id="hatch"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <line class="hl" x1="0" y1="0" x2="0" y2="5" />
          </pattern>
        </defs>
        <Grid scale={scale} tall={tall} />
        {shown.map((one, index) => {
          const row = rowAt(one);
          const y = HEAD + (first + index) * ROW;
          const isSelected = first + index === place;
          const later = laterIn(row, player.at, x);
          return keep(row.key, [y, width, isSelected, later].join(), () => (
            <Row
              key={row.key}
              row={row}
              y={y}
              width={width}
              scale={scale}
              props={props}
              isSelected={isSelected}
            />
          ));
        })}
      </svg>
      <div
        class={player.at !== null ? "ph on" : run.ended_at == null ? "ph live" : "ph"}
        style={{ height: `${tall}px`, transform: `translateX(${x}px)` }}
      />
    </div>
  );
}

/** The row of what is selected: of its round, where it has several. */
function placeOf(
  all: readonly Place[],
  progress: Progress,
  selected: number | null,
  iteration: number | null,
): number {
  if (selected === null) return -1;
  const executions = progress.get(selected) ?? [];
  const chosen = iteration === null ? executions.at(-1) : executions[iteration - 1];
  const rounds = chosen === undefined ? "" : roundsOf(chosen.path).join(".");
  return all.findIndex((one) =>
    one.of.kind === "step"
      ? one.of.work === selected && (one.rounds.length === 0 || one.rounds.join(".") === rounds)
      : one.of.steps.some((step) => step.work === selected),
  );
}

/** How many of its segments had not begun at a moment, and where one was that had. */
function laterIn({ segments }: GanttRow, at: number | null, x: number): string {
  if (at === null) return "";
  const later = segments.filter((segment) => segment.from > at).length;
  const isOn = segments.some((segment) => segment.from <= at && segment.to > at);
  return `${later} ${isOn ? Math.round(x) : ""}`;
}

function Grid({ scale, tall }: { scale: Scale; tall: number }) {
  return (
    <g {...UNSAID}>
      {scale.cuts.map((cut) => (
        <g key={cut.from}>
          <rect class="gap" x={cut.x} y="0" width={cut.width} height={tall} />
          <text
            class="cutw"
            x={0}
            y={0}
            transform={`translate(${cut.x + cut.width / 2 + 4} ${HEAD + 6}) rotate(90)`}
          >
            {cutInWords(cut)}
          </text>
        </g>
      ))}
      {scale.ticks.map((tick) => (
        <line key={tick.after} class="gr" x1={tick.x} x2={tick.x} y1="0" y2={tall} />
      ))}
    </g>
  );
}

type RowProps = {
  row: GanttRow;
  y: number;
  width: number;
  scale: Scale;
  props: Props;
  isSelected: boolean;
};

/** So many letters of a name have room. */
const MOST_LETTERS = 20;

/** What tells two rows of one name apart stays. */
function shortened(label: string): string {
  if (label.length <= MOST_LETTERS) return label;
  const round = / · round [\d.]+$/.exec(label)?.[0] ?? "";
  const room = Math.max(3, MOST_LETTERS - 1 - round.length);
  return `${label.slice(0, label.length - round.length).slice(0, room)}…${round}`;
}

function Row({ row, y, width, scale, props, isSelected }: RowProps) {
  const choose = (segment: Segment | null) => props.onSelect(row, segment);
  const label = visible(row.label);
  const short = shortened(label);
  const isTodo = row.segments.length === 0;
  const role = button({ pressed: isSelected, focusable: true });
  return (
    <g class={isTodo ? "grow-row todo" : "grow-row"} {...role} {...pressing(() => choose(null))}>
      {short !== label && <title>{label}</title>}
      <rect class={isSelected ? "selrow" : "norow"} x="0" y={y} width={width} height={ROW} rx="3" />
      <text class="nm" x={LEFT} y={y + 15}>
        {short}
      </text>{" "}
      {isTodo && (
        <text x={scale.x(props.run.created_at)} y={y + 15}>
          {props.run.ended_at == null ? "not started" : "not run"}
        </text>
      )}
      {row.segments.map((segment) => (
        <Bar
          key={`${segment.iteration} ${segment.attempt} ${segment.look} ${segment.from}`}
          segment={segment}
          y={y}
          scale={scale}
          at={props.player.at}
          onChoose={() => choose(segment)}
        />
      ))}
    </g>
  );
}

function inWords(segment: Segment): string {
  const time = duration(segment.to - segment.from);
  const words = {
    ok: "done",
    cd: "decided",
    bad: "failed",
    go: "running",
    q: "waited",
    off: "canceled",
  };
  return `${segment.words || words[segment.look]} ${time}`;
}

type BarProps = {
  segment: Segment;
  y: number;
  scale: Scale;
  /** The moment of the past that is looked at: what came later is dotted. */
  at: number | null;
  onChoose: () => void;
};

function Bar({ segment, y, scale, at, onChoose }: BarProps) {
  const x = scale.x(segment.from);
  const end = Math.max(x + 3, scale.x(segment.to));
  const seen = at === null || at >= segment.to ? end : Math.max(x, scale.x(at));
  const isOver = seen === end;
  const fits = isOver && segment.words.length * 6.2 + 8 <= seen - x;
  // How it ended was not known then.
  const look = isOver || segment.look === "q" ? segment.look : "go";
  const press = {
    onClick: (event: MouseEvent) => {
      event.stopPropagation(); // the row below it means its last round
      onChoose();
    },
  };
  const box = { y: y + 4, height: 14, rx: 2 };
  return (
    <g {...press}>
      {seen > x && (
        <rect class={look} x={x} width={seen - x} {...box}>
          {isOver && <title>{inWords(segment)}</title>}
        </rect>
      )}
      {!isOver && <rect class="later" x={seen} width={end - seen} {...box} />}
      {fits && segment.words !== "" && (
        <text class="segw" x={x + 6} y={y + 15}>
          {segment.words}
        </text>
      )}
      {segment.forYou && <circle class="yy" cx={end} cy={y + 11} r="7" />}
    </g>
  );
}
