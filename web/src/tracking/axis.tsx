/** The axis of the timeline, which is the scrubber too: a track, marks, and a thumb to drag. */

import { useMemo, useRef } from "preact/hooks";
import type { RunDetail } from "../api/types.gen";
import { duration } from "../words";
import { type Player, SPEEDS } from "./player";
import { GROUP, UNSAID } from "./roles";
import type { Wait } from "./said";
import { type Scale, type Span, timeAt } from "./timescale";

export const AXIS = 40;
const TRACK = 27;

type Props = {
  run: RunDetail;
  whole: Span;
  scale: Scale;
  width: number;
  left: number;
  waits: readonly Wait[];
  player: Player;
};

export function Axis({ run, whole, scale, width, left, waits, player }: Props) {
  const held = useRef(false);
  const { at } = player;
  const isLive = run.ended_at == null;
  const end = scale.x(whole.to);
  const x = scale.x(at ?? whole.to);
  const marks = useMemo(
    () =>
      marksOf(run, waits).map((mark) => (
        <path
          key={`${mark.look} ${mark.at}`}
          class={`tm ${mark.look}`}
          d={`M${scale.x(mark.at)} ${TRACK - 2}v9`}
        />
      )),
    [run, waits, scale],
  );
  const drag = (event: PointerEvent) => {
    const frame = (event.currentTarget as Element).getBoundingClientRect();
    player.goTo(timeAt(scale, whole, event.clientX - frame.left));
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] as 1 | -1 | undefined;
    if (by !== undefined && event.shiftKey) player.goTo((at ?? whole.to) + by * 10_000);
    else if (by !== undefined) player.step(by);
    else if (event.key === "Home") player.goTo(whole.from);
    else if (event.key === "End" || event.key === "Escape") player.leave();
    else if (event.key === " ") player.toggle();
    else if (event.key === "[" || event.key === "]") player.faster(event.key === "]" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const words = duration((at ?? whole.to) - whole.from);
  const said = `${words} of ${duration(whole.to - whole.from)}`;
  return (
    <svg
      class="axis"
      {...GROUP}
      aria-label="Timeline axis"
      width={width}
      height={AXIS}
      onPointerDown={(event) => {
        if (event.offsetX < left - 8) return;
        held.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => held.current && drag(event)}
      onPointerUp={() => {
        held.current = false;
      }}
      onPointerCancel={() => {
        held.current = false;
      }}
    >
      <rect class="axbg" x="0" y="0" width={width} height={AXIS} />
      <g {...UNSAID}>
        {scale.ticks
          .filter((tick) => end - tick.x > 70)
          .map((tick) => (
            <text key={tick.after} x={tick.x} y={13} text-anchor="middle">
              {duration(tick.after)}
            </text>
          ))}
        <text class="nowt" x={width - 4} y={13} text-anchor="end">
          {isLive ? "now" : "end"} {duration(whole.to - whole.from)}
        </text>
        <rect class="trk" x={left} y={TRACK} width={Math.max(0, end - left)} height="5" rx="2.5" />
        <rect
          class={at === null ? "trv" : "trv on"}
          x={left}
          y={TRACK}
          width={Math.max(0, x - left)}
          height="5"
          rx="2.5"
        />
        {marks}
      </g>
      {at !== null && (
        <g {...UNSAID}>
          <rect class="chip" x={x - 22} y={1} width="44" height="16" rx="3" />
          <text class="chipt" x={x} y={13} text-anchor="middle">
            {words}
          </text>
        </g>
      )}
      <circle
        class={at === null ? (isLive ? "th live" : "th") : "th on"}
        cx={x}
        cy={TRACK + 2.5}
        r="6.5"
        role="slider"
        tabindex={0}
        aria-label="Time in the run"
        aria-valuemin={0}
        aria-valuemax={Math.round((whole.to - whole.from) / 1000)}
        aria-valuenow={Math.round(((at ?? whole.to) - whole.from) / 1000)}
        aria-valuetext={at === null ? `${said}, ${isLive ? "live" : "the end"}` : said}
        onKeyDown={press}
      />
    </svg>
  );
}

const MOST_MARKS = 200;

/** Red where a task failed, amber where somebody was asked. */
function marksOf(run: RunDetail, waits: readonly Wait[]): { look: "bad" | "you"; at: number }[] {
  const failed = run.works
    .filter((work) => work.state === "failed" && work.ended_at != null)
    // What a condition says is no failure.
    .filter((work) => work.unasked || !/\.(?:cond|pre|post)(?:\.|$)/.test(work.path))
    .map((work) => ({ look: "bad" as const, at: work.ended_at ?? 0 }));
  const again = run.works.flatMap((work) =>
    work.retried_at.map((at) => ({ look: "bad" as const, at })),
  );
  const asked = waits
    .filter((wait) => wait.forPerson)
    .map((wait) => ({ look: "you" as const, at: wait.from }));
  return [...failed, ...again, ...asked].slice(0, MOST_MARKS);
}

/** Steps, play and speed, in the head of the dock; nothing in it changes its width. */
export function Transport({ run, player }: { run: RunDetail; player: Player }) {
  const whole = (run.ended_at ?? player.now) - run.created_at;
  const at = (player.at ?? run.created_at + whole) - run.created_at;
  return (
    <span class="transport">
      <button
        type="button"
        class="btn ghost sm icon"
        aria-label="Previous event"
        title="Previous event"
        onClick={() => player.step(-1)}
      >
        <Sign d="M4 3v10M13 3 6 8l7 5z" />
      </button>
      <button
        type="button"
        class="btn ghost sm icon"
        aria-label={player.isPlaying ? "Pause" : "Play"}
        title={player.isPlaying ? "Pause" : "Play"}
        onClick={player.toggle}
      >
        <Sign d={player.isPlaying ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2.8 13 8l-9 5.2z"} />
      </button>
      <button
        type="button"
        class="btn ghost sm icon"
        aria-label="Next event"
        title="Next event"
        onClick={() => player.step(1)}
      >
        <Sign d="M12 3v10M3 3l7 5-7 5z" />
      </button>
      <select
        class="select sm speed"
        aria-label="Speed"
        value={player.speed}
        onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </select>
      <span class="clockw small num">
        <b>{duration(at)}</b> of {duration(whole)}
      </span>
    </span>
  );
}

const Sign = ({ d }: { d: string }) => (
  <svg class="i f" viewBox="0 0 16 16" aria-hidden="true">
    <path class="f" d={d} />
  </svg>
);
