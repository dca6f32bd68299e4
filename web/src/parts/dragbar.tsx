/** A bar between two parts: it says how large the part behind it is, right of it or below it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { remember, remembered } from "../storage";
import { clamped, type Limits, stepped } from "./size";

type Props = {
  /** Under which the size is kept on this device: `session.lower`. */
  name: string;
  label: string;
  /** `v` stands between left and right, `h` lies between above and below. */
  way: "v" | "h";
  /** The custom property that the styles read, `--side-w`. */
  property: string;
  usual: number;
  min?: number;
  /** What must stay of the part before it. */
  leave?: number;
};

const BAR = 9;

export function DragBar({ name, label, way, property, usual, min = 120, leave = 360 }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const kept = Number(remembered(`size.${name}`) ?? Number.NaN);
  const [wanted, want] = useState(Number.isFinite(kept) ? kept : usual);
  const [room, measure] = useState(() => roomFor(way));
  const limits: Limits = { min, max: Math.max(min, room - leave - BAR) };
  const size = clamped(wanted, limits);

  useEffect(() => {
    const again = () => measure(roomFor(way, bar.current));
    again();
    addEventListener("resize", again);
    return () => removeEventListener("resize", again);
  }, [way]);
  useEffect(() => {
    document.documentElement.style.setProperty(property, `${size}px`);
  }, [property, size]);

  const set = (next: number) => {
    want(clamped(next, limits));
    remember(`size.${name}`, next === usual ? null : String(clamped(next, limits)));
  };

  function drag(down: PointerEvent): void {
    if (down.button !== 0 || bar.current === null) return;
    const held = bar.current;
    const from = at(down, way);
    held.setPointerCapture(down.pointerId);
    held.classList.add("held");
    const move = (event: PointerEvent) => set(size + from - at(event, way));
    const drop = () => {
      held.classList.remove("held");
      held.removeEventListener("pointermove", move);
    };
    held.addEventListener("pointermove", move);
    held.addEventListener("lostpointercapture", drop, { once: true });
  }

  function press(event: KeyboardEvent): void {
    const next = stepped(event.key, event.shiftKey, way, size, limits, usual);
    if (next === null) return;
    event.preventDefault();
    set(next);
  }

  return (
    // a line that is dragged is no <hr>
    <div
      ref={bar}
      class={`bar-${way}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={way === "v" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(size)}
      aria-valuemin={limits.min}
      aria-valuemax={limits.max}
      onPointerDown={drag}
      onDblClick={() => set(usual)}
      onKeyDown={press}
    />
  );
}

const at = (event: PointerEvent, way: "v" | "h") => (way === "v" ? event.clientX : event.clientY);

/** The bar's own row or column: what is above it, as a top bar, is nothing to divide. */
function roomFor(way: "v" | "h", bar: HTMLElement | null = null): number {
  const parent = bar?.parentElement;
  if (parent == null) return way === "v" ? innerWidth : innerHeight;
  return way === "v" ? parent.clientWidth : parent.clientHeight;
}
