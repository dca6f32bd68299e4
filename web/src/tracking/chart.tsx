/** The flow chart: our own drawing, of which only what is in view stands in the page. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { visible } from "../words";
import { Arrows } from "./arrows";
import { nameOf as named } from "./blocks";
import { Frame } from "./frame";
import { useKept } from "./kept";
import { ChartNode } from "./node";
import { LIST } from "./roles";
import { type Box, type Layout, shown as labelled } from "./shapes";
import { type Progress, type Shown, shownOf } from "./states";
import { afterInWords, stepped, waysOf } from "./steps";
import { fitting, opening, stepOf, zoomed } from "./zoom";

type Props = {
  layout: Layout;
  progress: Progress;
  /** Whether the run has ended. */
  isOver: boolean;
  now: number;
  label: string;
  zoom: number;
  onZoom: (zoom: number) => void;
  /** The work that is selected, and whether it was selected elsewhere: then it is brought in. */
  selected: number | null;
  reveal: boolean;
  /** Null in a preview: clicks do nothing there. */
  onChoose: ((box: Box) => void) | null;
  /** What a preview says below a label. */
  hint?: (box: Box) => string;
};

/** Drawn beyond the view, so that a little scrolling draws nothing anew. */
const AROUND = 400;
const FAR = 0.45;
const WAITING = { look: "not started", sign: null, sub: "", forYou: false, times: 0 } as const;

export function FlowChart(props: Props) {
  const { layout, progress, isOver, now, zoom, onZoom, selected, reveal, onChoose, hint } = props;
  const room = useRef<HTMLDivElement>(null);
  const view = useSignal({ x: 0, y: 0, width: 4_000, height: 3_000 });
  const focused = useSignal<string | null>(null);
  const ways = useMemo(() => waysOf(layout), [layout]);
  const keep = useKept(layout);
  const isFar = zoom < FAR;
  const places = useMemo(() => new Map(ways.order.map((box, at) => [box.key, at + 1])), [ways]);
  const chosen = layout.boxes.find((box) => isOf(box, selected)) ?? null;

  const look = () => {
    const { current } = room;
    if (current === null) return;
    const next = seen(current, layout, zoom);
    const old = view.value;
    if (Math.abs(next.x - old.x) + Math.abs(next.y - old.y) > AROUND / 2 / zoom) view.value = next;
    else if (next.width !== old.width || next.height !== old.height) view.value = next;
  };
  useLayoutEffect(look, [layout, zoom]);
  useEffect(() => {
    const { current } = room;
    if (current === null) return undefined;
    const watcher = new ResizeObserver(look);
    watcher.observe(current);
    return () => watcher.disconnect();
  });
  useWheel(room, zoom, onZoom);
  useBeginning(room, props, chosen);
  useEffect(() => {
    if (reveal && chosen !== null && room.current !== null)
      bringIn(room.current, layout, chosen, zoom);
  }, [selected]);

  const area = view.value;
  const isIn = (x: number, y: number, width: number, height: number) =>
    x < area.x + area.width &&
    x + width > area.x &&
    y < area.y + area.height &&
    y + height > area.y;
  const boxes = layout.boxes.filter(
    (box) =>
      box.key === focused.value || isIn(box.x - 12, box.y - 12, box.width + 24, box.height + 24),
  );
  const stop = focused.value ?? chosen?.key ?? ways.order[0]?.key;
  const told = (box: Box): Shown | null =>
    onChoose === null ? null : box.of === null ? WAITING : shownOf(box.of, progress, now, isOver);

  function press(event: KeyboardEvent): void {
    const from = boxOf(event.target, layout);
    if (from === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onChoose?.(from);
      return;
    }
    const to = stepped(ways, from, event.key);
    if (to === null) return;
    event.preventDefault();
    focused.value = to.key;
    const { current } = room;
    if (current === null) return;
    bringIn(current, layout, to, zoom);
    requestAnimationFrame(() => elementOf(current, to)?.focus({ preventScroll: true }));
  }

  return (
    <div class="chart" ref={room} tabIndex={onChoose === null ? 0 : -1} onScroll={look}>
      <svg
        class={isFar ? "flow far" : "flow"}
        width={layout.width * zoom}
        height={layout.height * zoom}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        {...LIST}
        aria-label={props.label}
        onClick={(event) => {
          const box = boxOf(event.target, layout);
          if (box !== null) onChoose?.(box);
        }}
        onKeyDown={press}
        onFocusIn={(event) => {
          focused.value = boxOf(event.target, layout)?.key ?? null;
        }}
      >
        {layout.frames.map((frame) => (
          <Frame key={frame.key} frame={frame} progress={progress} isOver={isOver} far={isFar} />
        ))}
        <Arrows lines={layout.lines} progress={progress} isIn={isIn} far={isFar} />
        {boxes.map((box) => {
          const shown = told(box);
          const sub = shown?.sub ?? hint?.(box) ?? "";
          const isChosen = chosen?.key === box.key;
          const isStop = box.key === stop;
          const looks = [shown?.look, shown?.sign, shown?.forYou, sub, isChosen, isStop, isFar];
          return keep(box.key, looks.join("|"), () => (
            <ChartNode
              key={box.key}
              box={box}
              told={shown}
              sub={sub}
              selected={isChosen}
              label={onChoose === null || shown === null ? null : said(box, shown)}
              focusable={isStop}
              place={places.get(box.key) ?? 0}
              places={ways.order.length}
              far={isFar}
            />
          ));
        })}
      </svg>
    </div>
  );

  /** It begins with what is seen, so that who speaks to the page can name it. */
  function said(box: Box, shown: Shown): string {
    const answer = shown.sign === "true" || shown.sign === "false" ? shown.sign : "";
    const seen = `${nameOf(box)} ${shown.sub} ${answer}`.trim();
    const came = answer === "" ? shown.look : "";
    const more = [came === shown.sub ? "" : came, box.of?.kind === "stack" ? "folded" : ""].filter(
      (word) => word !== "",
    );
    return `${[seen, ...more].join(", ")}. ${afterInWords(ways, box.key, nameOf)}`;
  }
}

const nameOf = (box: Box): string => (box.of === null ? "" : labelled(visible(named(box.of))));

const isOf = (box: Box, work: number | null): boolean =>
  work !== null &&
  box.of !== null &&
  (box.of.kind === "step" ? box.of.work === work : box.of.steps.some((step) => step.work === work));

function boxOf(target: EventTarget | null, layout: Layout): Box | null {
  const node = target instanceof Element ? target.closest("[data-key]") : null;
  const key = node?.getAttribute("data-key");
  return layout.boxes.find((box) => box.key === key) ?? null;
}

const elementOf = (room: Element, box: Box) =>
  room.querySelector<SVGElement>(`[data-key="${box.key}"]`);

/** Where the drawing begins inside its room, which centres it. */
const offset = (room: HTMLElement, layout: Layout, zoom: number) => ({
  x: Math.max(0, (room.clientWidth - layout.width * zoom) / 2),
  y: Math.max(0, (room.clientHeight - layout.height * zoom) / 2),
});

function seen(room: HTMLElement, layout: Layout, zoom: number) {
  const at = offset(room, layout, zoom);
  return {
    x: (room.scrollLeft - at.x - AROUND) / zoom,
    y: (room.scrollTop - at.y - AROUND) / zoom,
    width: (room.clientWidth + 2 * AROUND) / zoom,
    height: (room.clientHeight + 2 * AROUND) / zoom,
  };
}

/** With the least movement. */
function bringIn(room: HTMLElement, layout: Layout, box: Box, zoom: number): void {
  const at = offset(room, layout, zoom);
  const nearest = (from: number, size: number, least: number, most: number) => {
    if (least < from) return least;
    return most > from + size ? Math.min(least, most - size) : from;
  };
  const edge = 24;
  const left = at.x + box.x * zoom - edge;
  const top = at.y + box.y * zoom - edge;
  room.scrollTo({
    left: nearest(room.scrollLeft, room.clientWidth, left, left + box.width * zoom + 2 * edge),
    top: nearest(room.scrollTop, room.clientHeight, top, top + box.height * zoom + 2 * edge),
  });
}

type Room = { current: HTMLDivElement | null };

/** What is below the pointer stays there. */
function useWheel(room: Room, zoom: number, onZoom: (zoom: number) => void): void {
  const held = useRef<{ x: number; y: number; zoom: number } | null>(null);
  useEffect(() => {
    const { current } = room;
    if (current === null) return undefined;
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const next = stepOf(zoom, event.deltaY < 0 ? 1 : -1);
      if (next === zoom) return;
      const frame = current.getBoundingClientRect();
      held.current = { x: event.clientX - frame.left, y: event.clientY - frame.top, zoom };
      onZoom(next);
    };
    current.addEventListener("wheel", turn, { passive: false });
    return () => current.removeEventListener("wheel", turn);
  });
  const before = useRef(zoom);
  useLayoutEffect(() => {
    const { current } = room;
    const old = before.current;
    before.current = zoom;
    if (current === null || old === zoom) return;
    const point = held.current ?? { x: current.clientWidth / 2, y: current.clientHeight / 2 };
    held.current = null;
    const by = zoom / old;
    current.scrollLeft = (current.scrollLeft + point.x) * by - point.x;
    current.scrollTop = (current.scrollTop + point.y) * by - point.y;
  }, [zoom]);
}

/** A chart opens so that it can be read, in the middle of what matters. */
function useBeginning(room: Room, { layout, onZoom, progress }: Props, chosen: Box | null): void {
  const begun = useRef(false);
  useLayoutEffect(() => {
    const { current } = room;
    if (current === null || begun.current || current.clientWidth === 0) return;
    begun.current = true;
    const isPhone = innerWidth <= 720;
    const zoom = isPhone ? 0.9 : opening(layout, roomIn(current));
    onZoom(zoomed(zoom));
    const matters = chosen ?? layout.boxes.find((box) => isBusy(box, progress));
    requestAnimationFrame(() => {
      const target = matters ?? layout.boxes[0];
      if (target === undefined) return;
      const at = offset(current, layout, zoom);
      current.scrollLeft = at.x + (target.x + target.width / 2) * zoom - current.clientWidth / 2;
      if (matters !== undefined) {
        current.scrollTop = at.y + target.y * zoom - current.clientHeight / 2;
      }
    });
  }, [layout]);
}

function isBusy(box: Box, progress: Progress): boolean {
  if (box.of === null) return false;
  const { sign } = shownOf(box.of, progress, 0);
  return sign === "running" || sign === "cross";
}

const roomIn = (room: HTMLElement) => ({
  width: room.clientWidth - 8,
  height: room.clientHeight - 8,
});

export const fitRoom = (room: HTMLElement, layout: Layout): number => fitting(layout, roomIn(room));
